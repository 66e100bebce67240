//! SciPy's sparse matrices: the arrays of a CSR matrix in a zip archive.

use esker_format::Result;
use esker_graph::Direction;
use flate2::Crc;

use super::adjacency::{ListWriter, WrittenSum, weight_of, write};
use super::digits::bits_of;
use super::format::{EndsWritten, ExportFormat, KeptProperties, ReadAs, WriteGraph};
use super::graph::{ExportGraph, PropertyKind};
use super::options::ExportOptions;
use super::sink::OutputFile;

/// Sparse matrices of SciPy, with a row for each vertex.
pub(crate) static NPZ: ExportFormat = ExportFormat {
    is_read_anywhere: true,
    states_vertices: true,
    first_number: Some(0),
    invents_weights: true,
    ..ExportFormat::new(WriteGraph::Lists(npz), KeptProperties::Weight, ReadAs::Directed, EndsWritten::Apart)
};

fn npz(graph: &dyn ExportGraph, options: &ExportOptions, output: &mut OutputFile) -> Result<u64> {
    write(graph, weight_of(graph, options), options, output, |writer| {
        let (n, m) = (writer.graph.num_vertices(), writer.graph.num_arcs());
        let mut archive = ZipArchive::default();
        archive.member(writer, "indptr", "<i8", &format!("({},)", n + 1), |writer| {
            let mut offset = 0;
            writer.buffer.extend_from_slice(&0_u64.to_le_bytes());
            writer.each_degree(Direction::Out, |writer, degree| {
                offset += degree;
                writer.buffer.extend_from_slice(&offset.to_le_bytes());
            })
        })?;
        archive.member(writer, "indices", "<i8", &format!("({m},)"), |writer| {
            writer.each_list(Direction::Out, |writer, block| {
                block.targets.iter().for_each(|id| writer.buffer.extend_from_slice(&id.to_le_bytes()));
                Ok(())
            })
        })?;
        archive.member(writer, "format", "|S3", "()", |writer| {
            writer.buffer.extend_from_slice(b"csr");
            Ok(())
        })?;
        archive.member(writer, "shape", "<i8", "(2,)", |writer| {
            [n, n].iter().for_each(|size| writer.buffer.extend_from_slice(&size.to_le_bytes()));
            Ok(())
        })?;
        let kind = writer.weight.map(|weight| writer.graph.properties()[weight].kind);
        let described = match kind {
            None => "|i1",
            Some(PropertyKind::U64) => "<u8",
            Some(PropertyKind::F32 | PropertyKind::F64) => "<f8",
            Some(PropertyKind::I32 | PropertyKind::I64 | PropertyKind::Text) => "<i8",
        };
        archive.member(writer, "data", described, &format!("({m},)"), |writer| {
            writer.each_list(Direction::Out, |writer, block| {
                for row in 0..block.len() {
                    match writer.weight {
                        None => writer.buffer.push(1),
                        Some(weight) => {
                            let bits = bits_of(&block.properties[weight], row);
                            writer.buffer.extend_from_slice(&bits.to_le_bytes());
                        }
                    }
                }
                Ok(())
            })
        })?;
        archive.finish(writer)
    })
}

/// An archive that is being written. The sizes of a member stand behind it, as they are not known before.
#[derive(Default)]
struct ZipArchive {
    directory: Vec<u8>,
    members: u64,
    /// Bytes that were written.
    at: u64,
}

/// Version 4.5, which has sizes of 64 bits; sizes behind the member; not packed; 1980-01-01.
const MEMBER: [u8; 12] = [45, 0, 8, 0, 0, 0, 0, 0, 0x21, 0, 0, 0];

impl ZipArchive {
    /// Writes an array of a type and a shape.
    fn member(
        &mut self,
        writer: &mut ListWriter<'_>,
        name: &str,
        described: &str,
        shape: &str,
        write: impl FnOnce(&mut ListWriter<'_>) -> Result<()>,
    ) -> Result<()> {
        let (start, name) = (self.at, format!("{name}.npy"));
        let size = (name.len() as u16).to_le_bytes();
        let mut head = [&b"PK\x03\x04"[..], &MEMBER[..10], &[0; 4], &[0xff; 8], &size, &[20, 0]].concat();
        head.extend_from_slice(name.as_bytes());
        // The sizes of 64 bits are behind the member, too.
        head.extend_from_slice(&[1, 0, 16, 0]);
        head.extend_from_slice(&[0; 16]);
        self.write(writer, &head)?;
        let dictionary = format!("{{'descr': '{described}', 'fortran_order': False, 'shape': {shape}, }}");
        let padding = (64 - (10 + dictionary.len() + 1) % 64) % 64;
        let length = (dictionary.len() + padding + 1) as u16;
        writer.sum = Some(WrittenSum { crc: Crc::new(), bytes: 0 });
        writer.buffer.extend_from_slice(b"\x93NUMPY\x01\0");
        writer.buffer.extend_from_slice(&length.to_le_bytes());
        writer.buffer.extend_from_slice(dictionary.as_bytes());
        writer.buffer.extend_from_slice(" ".repeat(padding).as_bytes());
        writer.buffer.push(b'\n');
        write(writer)?;
        writer.flush()?;
        let sum = writer.sum.take();
        let (crc, counted) = sum.map_or((0, 0), |sum| (sum.crc.sum(), sum.bytes));
        self.at += counted;
        let sizes = [counted.to_le_bytes(), counted.to_le_bytes()].concat();
        self.write(writer, &[&b"PK\x07\x08"[..], &crc.to_le_bytes(), &sizes].concat())?;
        let entry =
            [&b"PK\x01\x02\x2d\x03"[..], &MEMBER[..10], &crc.to_le_bytes(), &[0xff; 8], &size].concat();
        self.directory.extend_from_slice(&entry);
        self.directory.extend_from_slice(&[28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
        self.directory.extend_from_slice(name.as_bytes());
        self.directory.extend_from_slice(&[&[1, 0, 24, 0][..], &sizes, &start.to_le_bytes()].concat());
        self.members += 1;
        Ok(())
    }

    fn write(&mut self, writer: &mut ListWriter<'_>, bytes: &[u8]) -> Result<()> {
        writer.buffer.extend_from_slice(bytes);
        self.at += bytes.len() as u64;
        writer.flush()
    }

    /// Writes the directory and its end, with numbers of 64 bits.
    fn finish(mut self, writer: &mut ListWriter<'_>) -> Result<()> {
        let (start, directory) = (self.at, std::mem::take(&mut self.directory));
        self.write(writer, &directory)?;
        let (end, size) = (self.at, directory.len() as u64);
        let mut tail = b"PK\x06\x06".to_vec();
        tail.extend_from_slice(&44_u64.to_le_bytes());
        tail.extend_from_slice(&[45, 0, 45, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        for number in [self.members, self.members, size, start] {
            tail.extend_from_slice(&number.to_le_bytes());
        }
        tail.extend_from_slice(b"PK\x06\x07\0\0\0\0");
        tail.extend_from_slice(&end.to_le_bytes());
        tail.extend_from_slice(&1_u32.to_le_bytes());
        tail.extend_from_slice(b"PK\x05\x06\0\0\0\0");
        tail.extend_from_slice(&[0xff; 12]);
        tail.extend_from_slice(&[0, 0]);
        self.write(writer, &tail)
    }
}
