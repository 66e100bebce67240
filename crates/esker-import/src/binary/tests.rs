//! Every binary reader against files made here, and against the same files damaged.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Decimal128Array, DictionaryArray, Float32Array, Int8Array, Int32Array,
    Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray, StructArray,
    Time32MillisecondArray, TimestampMicrosecondArray, UInt16Array, UInt64Array,
    types::{
        DurationMicrosecondType, DurationMillisecondType, Float64Type, Int8Type, Int64Type,
        Time64MicrosecondType,
    },
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use arrow_schema::{DataType, Field, Fields};
use esker_format::io::{Disk, RealDisk};
use esker_format::{ElementType, Error, Result};
use esker_graph::Stop;
use esker_graph::random::Random;
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::file::properties::WriterProperties;

use super::runs;
use crate::open::open_inputs;
use crate::read::format::{Declaration, Format, Pick, PickIds, PickProperties, ReadOptions};
use crate::read::head::InputHead;
use crate::read::input::Input;
use crate::read::source::{EdgeBatch, IdKind, Reader, integer_ids};

fn table(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter(columns).unwrap()
}

fn parquet_bytes(batches: &[RecordBatch], properties: WriterProperties) -> Vec<u8> {
    let mut writer = ArrowWriter::try_new(Vec::new(), batches[0].schema(), Some(properties)).unwrap();
    for batch in batches {
        writer.write(batch).unwrap();
    }
    writer.into_inner().unwrap()
}

fn arrow_file(batches: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batches[0].schema(), options).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    writer.into_inner().unwrap()
}

fn arrow_stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut writer = StreamWriter::try_new(Vec::new(), &batches[0].schema()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.into_inner().unwrap()
}

fn open(format: Format, files: Vec<Vec<u8>>, options: &ReadOptions) -> Result<Box<dyn Reader>> {
    let inputs: Vec<_> = files.into_iter().map(|bytes| Input::memory("edges", bytes)).collect();
    Ok((format.input().open)(&inputs, InputHead::read(&inputs[0])?, options)?.reader)
}

/// All batches; blocks are parsed in an order far from theirs, as many threads might, and batches put in
/// order.
fn batches(reader: &mut dyn Reader) -> Result<Vec<EdgeBatch>> {
    let parser = reader.parser();
    let (mut parsed, mut index) = (Vec::new(), 0);
    loop {
        let mut blocks = Vec::new();
        while blocks.len() < 4
            && let Some(block) = reader.next_block()?
        {
            blocks.push((index, block));
            index += 1;
        }
        if blocks.is_empty() {
            break;
        }
        blocks.sort_by_key(|(index, _)| std::cmp::Reverse(index % 3));
        for (index, block) in blocks {
            parsed.push((index, parser.parse(block)?));
        }
    }
    parsed.sort_by_key(|(index, _)| *index);
    Ok(parsed.into_iter().map(|(_, batch)| batch).collect())
}

fn ints(column: &ArrayRef) -> Vec<u64> {
    integer_ids(column).unwrap().to_vec()
}

fn texts(column: &ArrayRef) -> Vec<String> {
    let texts = crate::read::source::texts(column).unwrap();
    texts.map(|text| String::from_utf8(text.to_vec()).unwrap()).collect()
}

fn floats(column: &ArrayRef) -> Vec<f64> {
    match column.as_primitive_opt::<Int64Type>() {
        Some(values) => values.values().iter().map(|&v| v as f64).collect(),
        None => column.as_primitive::<Float64Type>().values().to_vec(),
    }
}

/// The table of `rows` rows in all forms that hold it.
fn forms(batch: &RecordBatch) -> Vec<(&'static str, Format, Vec<u8>)> {
    let one = std::slice::from_ref(batch);
    let middle = batch.num_rows() / 3;
    let two = [batch.slice(0, middle), batch.slice(middle, batch.num_rows() - middle)];
    let plain =
        WriterProperties::builder().set_dictionary_enabled(false).set_compression(Compression::SNAPPY);
    let zstd = WriterProperties::builder()
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_writer_version(parquet::file::properties::WriterVersion::PARQUET_2_0)
        .set_max_row_group_row_count(Some(middle.max(1)));
    vec![
        ("parquet, plain", Format::Parquet, parquet_bytes(one, plain.build())),
        ("parquet, row groups", Format::Parquet, parquet_bytes(one, zstd.build())),
        ("arrow file", Format::Arrow, arrow_file(&two, None)),
        ("arrow file, lz4", Format::Arrow, arrow_file(one, Some(CompressionType::LZ4_FRAME))),
        ("arrow file, zstd", Format::Arrow, arrow_file(&two, Some(CompressionType::ZSTD))),
        ("arrow stream", Format::Arrow, arrow_stream(&two)),
    ]
}

#[test]
fn long_tables_are_cut_and_joined() {
    let rows = 3 * runs::RUN_ROWS as i64 + 1234;
    let source = Int64Array::from_iter_values((0..rows).map(|i| i * 7 % 100_003));
    let target = Int32Array::from_iter((0..rows).map(|i| (i % 5000 != 17).then_some(i as i32 / 3)));
    let weight = Float32Array::from_iter_values((0..rows).map(|i| i as f32 / 2.0));
    let batch = table(vec![("w", Arc::new(weight)), ("SRC", Arc::new(source)), ("dst", Arc::new(target))]);
    let kept: Vec<u64> = (0..rows as u64).filter(|i| i % 5000 != 17).collect();
    for (name, format, bytes) in forms(&batch) {
        let length = bytes.len() as u64;
        let mut reader = open(format, vec![bytes], &ReadOptions::default()).unwrap();
        assert_eq!(reader.schema().ids, IdKind::Int);
        assert_eq!(
            (reader.schema().weight, reader.schema().properties.as_slice()),
            (Some(0), &["w".to_owned()][..])
        );
        let all = batches(reader.as_mut()).unwrap();
        assert!(all.len() >= 4, "{name}");
        let source: Vec<u64> = all.iter().flat_map(|b| ints(&b.source)).collect();
        let target: Vec<u64> = all.iter().flat_map(|b| ints(&b.target)).collect();
        let weight: Vec<f64> = all.iter().flat_map(|b| floats(&b.properties[0])).collect();
        assert_eq!(source, kept.iter().map(|i| i * 7 % 100_003).collect::<Vec<_>>(), "{name}");
        assert_eq!(target, kept.iter().map(|i| i / 3).collect::<Vec<_>>(), "{name}");
        assert_eq!(weight, kept.iter().map(|&i| i as f64 / 2.0).collect::<Vec<_>>(), "{name}");
        let rejected: Vec<u64> = all.iter().flat_map(|b| &b.rejected).map(|r| r.line).collect();
        let expected: Vec<u64> = (0..rows as u64).filter(|i| i % 5000 == 17).map(|i| i + 1).collect();
        assert_eq!(rejected, expected, "{name}");
        let read: u64 = all.iter().map(|b| b.input_bytes).sum();
        assert!(read <= length && read > length / 2, "{name}: {read} of {length}");
    }
}

/// A weight of texts was once left out in silence, and shortest paths counted steps.
#[test]
fn a_weight_column_of_texts_is_an_error() {
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let weight: ArrayRef = Arc::new(StringArray::from(vec!["13", "7"]));
    let batch = table(vec![("src", Arc::clone(&ids)), ("dst", ids), ("weight", weight)]);
    for (name, format, bytes) in forms(&batch) {
        let error = open(format, vec![bytes.clone()], &ReadOptions::default()).err().expect(name).to_string();
        assert!(
            error.contains("\"weight\" does not hold numbers") && error.contains("`weight = false`"),
            "{name}: {error}"
        );
        let without = ReadOptions { weight: Pick::Skip, ..ReadOptions::default() };
        let all = batches(open(format, vec![bytes], &without).unwrap().as_mut()).unwrap();
        assert_eq!(all.iter().map(|batch| batch.source.len()).sum::<usize>(), 2, "{name}");
    }
}

/// One page for a whole column: each run of rows goes on where a reader waits.
#[test]
fn a_page_longer_than_runs_is_read_run_by_run() {
    let rows = 4 * runs::RUN_ROWS as i64 + 99;
    let source: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|i| i % 1000)));
    let target: ArrayRef = Arc::new(Int64Array::from_iter_values((0..rows).map(|i| i % 777)));
    let properties = WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_data_page_row_count_limit(rows as usize)
        .set_data_page_size_limit(1 << 30)
        .set_write_batch_size(rows as usize)
        .build();
    let bytes = parquet_bytes(&[table(vec![("src", source), ("dst", target)])], properties);
    let all = batches(open(Format::Parquet, vec![bytes], &ReadOptions::default()).unwrap().as_mut()).unwrap();
    let sources: Vec<u64> = all.iter().flat_map(|b| ints(&b.source)).collect();
    let targets: Vec<u64> = all.iter().flat_map(|b| ints(&b.target)).collect();
    assert_eq!(sources, (0..rows as u64).map(|i| i % 1000).collect::<Vec<_>>());
    assert_eq!(targets, (0..rows as u64).map(|i| i % 777).collect::<Vec<_>>());
}

#[test]
fn texts_of_every_kind_are_ids() {
    let names: Vec<String> = (0..3000)
        .map(|i| if i % 2 == 0 { format!("n{i}") } else { format!("a name of many letters {i}") })
        .collect();
    let target: Vec<Option<&str>> =
        (0..3000).map(|i| (i != 5).then_some(["a", "bb", "ccc"][i % 3])).collect();
    let kinds: Vec<(ArrayRef, ArrayRef)> = vec![
        (Arc::new(StringArray::from_iter_values(&names)), Arc::new(StringArray::from(target.clone()))),
        (
            Arc::new(LargeStringArray::from_iter_values(&names)),
            Arc::new(LargeStringArray::from(target.clone())),
        ),
        (
            Arc::new(StringViewArray::from_iter_values(&names)),
            Arc::new(StringViewArray::from(target.clone())),
        ),
        (
            Arc::new(StringArray::from_iter_values(&names)),
            Arc::new(target.iter().copied().collect::<DictionaryArray<Int8Type>>()),
        ),
    ];
    for (source, target) in kinds {
        let time = TimestampMicrosecondArray::from_iter_values(0..3000);
        let batch = table(vec![("from", source), ("to", target), ("ts", Arc::new(time))]);
        for (name, format, bytes) in forms(&batch) {
            let mut reader = open(format, vec![bytes], &ReadOptions::default()).unwrap();
            assert_eq!((reader.schema().ids, reader.schema().weight), (IdKind::Text, None));
            let all = batches(reader.as_mut()).unwrap();
            let found: Vec<String> = all.iter().flat_map(|b| texts(&b.source)).collect();
            let expected: Vec<_> =
                names.iter().enumerate().filter(|(i, _)| *i != 5).map(|(_, n)| n.clone()).collect();
            assert_eq!(found, expected, "{name}");
            let found: Vec<String> = all.iter().flat_map(|b| texts(&b.target)).collect();
            assert_eq!(
                (found[4].as_str(), found[5].as_str(), found[2998].as_str()),
                ("bb", "a", "ccc"),
                "{name}"
            );
            let times: Vec<f64> = all.iter().flat_map(|b| floats(&b.properties[0])).collect();
            assert_eq!((times[4], times[5]), (4.0, 6.0), "{name}");
            let rejected: Vec<_> = all.iter().flat_map(|b| &b.rejected).collect();
            assert_eq!((rejected.len(), rejected[0].line), (1, 6), "{name}");
            assert_eq!(rejected[0].reason.to_string(), "the column \"to\" has no value here (null)");
        }
    }
}

#[test]
fn columns_are_chosen_by_name_and_values_checked() {
    let nested =
        StructArray::try_from(vec![("x", Arc::new(Int32Array::from(vec![1, 2, 3])) as ArrayRef)]).unwrap();
    let batch = table(vec![
        ("nested", Arc::new(nested)),
        ("flag", Arc::new(BooleanArray::from(vec![true, false, true]))),
        ("v", Arc::new(UInt64Array::from(vec![u64::MAX, 5, 6]))),
        ("u", Arc::new(Int8Array::from(vec![1, -2, 3]))),
        ("kind", Arc::new(StringViewArray::from(vec!["x", "y", "a text that is not inline"]))),
        ("weight", Arc::new(Float32Array::from(vec![0.5, 1.0, f32::NAN]))),
        ("port", Arc::new(UInt16Array::from(vec![1, 2, 65535]))),
    ]);
    for (name, format, bytes) in forms(&batch) {
        let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
        let mut reader = open(format, vec![bytes.clone()], &options).unwrap();
        assert_eq!(reader.schema().properties, ["weight", "flag", "kind", "port"], "{name}");
        let all = batches(reader.as_mut()).unwrap();
        assert_eq!(all.iter().flat_map(|b| ints(&b.source)).collect::<Vec<_>>(), [1, 3], "{name}");
        assert_eq!(all.iter().flat_map(|b| ints(&b.target)).collect::<Vec<_>>(), [u64::MAX, 6], "{name}");
        let rejected: Vec<_> = all.iter().flat_map(|b| &b.rejected).collect();
        assert_eq!(
            rejected.iter().map(|r| (r.line, r.text.to_string())).collect::<Vec<_>>(),
            [(2, "-2".to_owned())]
        );
        // NaN is a missing value.
        let missing = all.iter().flat_map(|b| (0..b.len()).map(|row| b.properties[0].is_null(row)));
        assert_eq!(missing.collect::<Vec<_>>(), [false, true], "{name}");

        let options = ReadOptions {
            ids: PickIds::Text,
            weight: Pick::Column("port".into()),
            properties: PickProperties::Columns(vec!["kind:text".into()]),
            ..ReadOptions::default()
        };
        let all = batches(open(format, vec![bytes.clone()], &options).unwrap().as_mut()).unwrap();
        assert_eq!(all.iter().flat_map(|b| texts(&b.source)).collect::<Vec<_>>(), ["1", "-2", "3"], "{name}");
        let ports: Vec<f64> = all.iter().flat_map(|b| floats(&b.properties[0])).collect();
        assert_eq!(ports, [1.0, 2.0, 65535.0], "{name}");

        for (options, expected) in [
            (
                ReadOptions { source: Some("who".into()), ..ReadOptions::default() },
                "there is no column \"who\"",
            ),
            (
                ReadOptions { weight: Pick::Column("kind".into()), ..ReadOptions::default() },
                "does not hold numbers",
            ),
            (
                ReadOptions { source: Some("port".into()), ..ReadOptions::default() },
                "cannot tell which columns hold the ends",
            ),
        ] {
            let error = open(format, vec![bytes.clone()], &options).err().unwrap().to_string();
            assert!(error.starts_with("edges: ") && error.contains(expected), "{name}: {error}");
        }
    }
}

#[test]
fn decimals_are_numbers_and_columns_of_nulls_are_none() {
    let decimal = |precision, scale| {
        Decimal128Array::from(vec![125, -250, 1]).with_precision_and_scale(precision, scale).unwrap()
    };
    for weight in [decimal(5, 2), decimal(15, 2), decimal(30, 2)] {
        let batch = table(vec![
            ("u", Arc::new(Int8Array::from(vec![1, 2, 3])) as ArrayRef),
            ("v", Arc::new(Int8Array::from(vec![4, 5, 6]))),
            ("nothing", Arc::new(NullArray::new(3))),
            ("w", Arc::new(weight)),
        ]);
        for (name, format, bytes) in forms(&batch) {
            let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
            let mut reader = open(format, vec![bytes], &options).unwrap();
            assert_eq!(reader.schema().properties, ["w"], "{name}");
            let all = batches(reader.as_mut()).unwrap();
            let weights: Vec<f64> = all.iter().flat_map(|b| floats(&b.properties[0])).collect();
            assert_eq!(weights, [1.25, -2.5, 0.01], "{name}");
        }
    }
}

#[test]
fn several_files_share_columns_by_name() {
    let one = table(vec![
        ("src", Arc::new(Int32Array::from(vec![1, 2])) as ArrayRef),
        ("dst", Arc::new(Int32Array::from(vec![3, 4]))),
    ]);
    let two = table(vec![
        ("dst", Arc::new(UInt16Array::from(vec![30, 40])) as ArrayRef),
        ("more", Arc::new(UInt16Array::from(vec![0, 0]))),
        ("src", Arc::new(StringArray::from(vec!["a", "b"]))),
    ]);
    for ((_, format, one), (_, _, two)) in forms(&one).into_iter().zip(forms(&two)) {
        let mut reader = open(format, vec![one.clone(), two], &ReadOptions::default()).unwrap();
        let all = batches(reader.as_mut()).unwrap();
        assert_eq!(all.iter().flat_map(|b| texts(&b.source)).collect::<Vec<_>>(), ["1", "2", "a", "b"]);
        assert_eq!(all.iter().flat_map(|b| texts(&b.target)).collect::<Vec<_>>(), ["3", "4", "30", "40"]);
        let mut again = open(format, vec![one.clone(), one], &ReadOptions::default()).unwrap();
        let all = batches(again.as_mut()).unwrap();
        assert_eq!(all.iter().flat_map(|b| ints(&b.target)).collect::<Vec<_>>(), [3, 4, 3, 4]);
    }
}

/// `.sg` or `.wsg` of the given lists, each edge with its weight.
pub(super) fn gap_bytes(lists: &[Vec<(i32, i32)>], weighted: bool, directed: bool) -> Vec<u8> {
    let edges: usize = lists.iter().map(Vec::len).sum();
    let mut bytes = vec![u8::from(directed)];
    bytes.extend((edges as i64).to_le_bytes());
    bytes.extend((lists.len() as i64).to_le_bytes());
    for _ in 0..if directed { 2 } else { 1 } {
        let mut offset = 0_i64;
        bytes.extend(offset.to_le_bytes());
        for list in lists {
            offset += list.len() as i64;
            bytes.extend(offset.to_le_bytes());
        }
        for (target, weight) in lists.iter().flatten() {
            bytes.extend(target.to_le_bytes());
            if weighted {
                bytes.extend(weight.to_le_bytes());
            }
        }
    }
    bytes
}

#[test]
fn gap_graphs() {
    let n = 50_000;
    // A hub whose list spans blocks, many empty lists, and short ones.
    let lists: Vec<Vec<(i32, i32)>> = (0..n)
        .map(|v| match v {
            3 => (0..300_000).map(|i| (i % n, -i)).collect(),
            _ if v % 5 == 0 => (0..v % 7).map(|i| (i, v)).collect(),
            _ => Vec::new(),
        })
        .collect();
    let expected: Vec<(u64, u64, i64)> = lists
        .iter()
        .enumerate()
        .flat_map(|(v, list)| list.iter().map(move |&(t, w)| (v as u64, t as u64, i64::from(w))))
        .collect();
    for (weighted, directed) in [(false, false), (true, true), (true, false), (false, true)] {
        let format = if weighted { Format::Wsg } else { Format::Sg };
        let bytes = gap_bytes(&lists, weighted, directed);
        let mut reader = open(format, vec![bytes.clone()], &ReadOptions::default()).unwrap();
        let schema = reader.schema().clone();
        assert_eq!((schema.directed, schema.both_ends), (Some(directed), !directed));
        assert_eq!(schema.ids, IdKind::Numbered { first: 0, num_vertices: n as u64 });
        let all = batches(reader.as_mut()).unwrap();
        assert!(all.len() > 2);
        let found: Vec<(u64, u64)> =
            all.iter().flat_map(|b| ints(&b.source).into_iter().zip(ints(&b.target))).collect();
        assert_eq!(found, expected.iter().map(|e| (e.0, e.1)).collect::<Vec<_>>());
        if weighted {
            let weights: Vec<f64> = all.iter().flat_map(|b| floats(&b.properties[0])).collect();
            assert_eq!(weights, expected.iter().map(|e| e.2 as f64).collect::<Vec<_>>());
        }
        let other = if weighted { Format::Sg } else { Format::Wsg };
        let error = open(other, vec![bytes], &ReadOptions::default()).err().unwrap().to_string();
        assert!(error.contains(&format!("(`format = {format}`)")), "{error}");
    }
    let empty = gap_bytes(&[], false, false);
    let mut reader = open(Format::Sg, vec![empty], &ReadOptions::default()).unwrap();
    assert!(batches(reader.as_mut()).unwrap().is_empty());
}

#[test]
fn gap_graphs_that_contradict_themselves() {
    let lists = vec![vec![(1, 5), (2, 6)], vec![(0, 7)], vec![]];
    let good = gap_bytes(&lists, true, false);
    let read = |bytes: Vec<u8>| {
        open(Format::Wsg, vec![bytes], &ReadOptions::default()).and_then(|mut r| batches(r.as_mut()))
    };
    assert_eq!(read(good.clone()).unwrap()[0].rejected, []);
    let mut target_outside = good.clone();
    target_outside[17 + 32] = 3;
    let batch = &read(target_outside).unwrap()[0];
    assert_eq!((batch.rejected[0].line, batch.rejected[0].text.as_bytes()), (1, &b"0 3"[..]));
    assert_eq!((ints(&batch.source), floats(&batch.properties[0])), (vec![0, 1], vec![6.0, 7.0]));
    for offset in 0..4 {
        let mut offsets_wrong = good.clone();
        offsets_wrong[17 + offset * 8 + 1] = 1;
        let error = read(offsets_wrong).unwrap_err().to_string();
        assert!(error.contains("offset"), "{error}");
    }
    for length in 0..good.len() {
        assert!(read(good[..length].to_vec()).is_err(), "cut at {length}");
    }
}

#[test]
fn graph500_edges() {
    let edges: Vec<(u64, u64)> = (0..1000).map(|i| (i << 38 | 7, (1 << 48) - 1 - i)).collect();
    let packed: Vec<u8> = edges
        .iter()
        .flat_map(|(u, v)| {
            let high = (u >> 32) as u32 | ((v >> 32) as u32) << 16;
            [*u as u32, *v as u32, high].into_iter().flat_map(u32::to_le_bytes)
        })
        .collect();
    let wide: Vec<u8> = edges.iter().flat_map(|(u, v)| [*u, *v]).flat_map(u64::to_le_bytes).collect();
    let options = ReadOptions { block_bytes: 1000, ..ReadOptions::default() };
    for (format, bytes) in [(Format::Graph500, packed), (Format::Graph500Wide, wide)] {
        let mut reader = open(format, vec![bytes.clone(), bytes.clone()], &options).unwrap();
        let all = batches(reader.as_mut()).unwrap();
        let found: Vec<(u64, u64)> =
            all.iter().flat_map(|b| ints(&b.source).into_iter().zip(ints(&b.target))).collect();
        assert_eq!(found, [edges.clone(), edges.clone()].concat());
        let mut cut = open(format, vec![bytes[..bytes.len() - 1].to_vec()], &options).unwrap();
        let error = batches(cut.as_mut()).unwrap_err().to_string();
        assert!(error.contains("bytes are left over"), "{error}");
    }
    let negative: Vec<u8> = [1_i64, -1, 2, 3].into_iter().flat_map(i64::to_le_bytes).collect();
    let batch = &batches(open(Format::Graph500Wide, vec![negative], &options).unwrap().as_mut()).unwrap()[0];
    assert_eq!((ints(&batch.source), batch.rejected[0].text.as_bytes()), (vec![2], &b"1 -1"[..]));
}

/// Bytes changed, cut out, repeated or set to extremes, from a seed.
fn mutate(bytes: &[u8], seed: u64) -> Vec<u8> {
    let mut numbers = Random::new(seed);
    let mut random = |below: usize| numbers.index(below);
    let mut bytes = bytes.to_vec();
    for _ in 0..=random(3) {
        let at = random(bytes.len());
        match random(6) {
            0 => bytes.truncate(at),
            1 => bytes[at..].iter_mut().take(8).for_each(|b| *b = 0xff),
            2 => {
                let end = at + random(bytes.len() - at).min(16);
                let part = bytes[at..end].to_vec();
                bytes.splice(at..at, part);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = random(256) as u8;
                }
            }
        }
        if bytes.is_empty() {
            break;
        }
    }
    bytes
}

/// A count of view buffers was once believed as it stood, and a table of 200 GB allocated for it.
#[test]
fn a_damaged_count_of_view_buffers_is_an_error() {
    let texts = Arc::new(StringViewArray::from(vec!["a long text outside of the view"]));
    let batch = table(vec![("src", Arc::clone(&texts) as ArrayRef), ("dst", texts)]);
    let good = arrow_stream(std::slice::from_ref(&batch));
    // The counts are a vector of two ones; the view has the text's buffer, 0, in its third word.
    let counts: Vec<u8> = [1_i64, 1].into_iter().flat_map(i64::to_le_bytes).collect();
    let places: Vec<usize> = (0..good.len() - 16).filter(|&at| good[at..at + 16] == counts).collect();
    let view = |at: usize| good[at..at + 8] == *b"\x1f\0\0\0a lo";
    let views: Vec<usize> = (0..good.len() - 8).filter(|&at| view(at)).collect();
    assert!(!places.is_empty() && views.len() == 2);
    let mut bad = good;
    places.iter().for_each(|at| bad[at + 4] = 1);
    views.iter().for_each(|at| bad[at + 11] = 0x7f);
    let read = open(Format::Arrow, vec![bad], &ReadOptions::default()).and_then(|mut r| batches(r.as_mut()));
    let error = read.unwrap_err().to_string();
    assert!(error.contains("cannot be decoded"), "{error}");
}

#[test]
fn damaged_files_never_panic() {
    let batch = table(vec![
        ("src", Arc::new(Int64Array::from(vec![Some(1), None, Some(3), Some(4)])) as ArrayRef),
        ("dst", Arc::new(StringViewArray::from(vec!["a", "b", "a long text outside of the view", "d"]))),
        ("kind", Arc::new(["x", "y", "x", "x"].into_iter().collect::<DictionaryArray<Int8Type>>())),
        ("weight", Arc::new(Float32Array::from(vec![1.0, 2.0, 3.0, 4.0]))),
    ]);
    assert_eq!(batch.column(0).null_count(), 1);
    let mut files = forms(&batch);
    let lists = vec![vec![(1, 5), (2, 6)], vec![(0, 7)], vec![], vec![(3, 3); 20]];
    files.push(("sg", Format::Sg, gap_bytes(&lists, false, false)));
    files.push(("wsg", Format::Wsg, gap_bytes(&lists, true, true)));
    let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    let rounds = std::env::var("ESKER_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(300);
    let mut errors = 0;
    for (name, format, bytes) in files {
        for seed in 0..rounds {
            let mutant = mutate(&bytes, seed);
            // What must hold: an answer whose columns agree, or an error that names the file.
            match open(format, vec![mutant], &options).and_then(|mut r| batches(r.as_mut())) {
                Ok(batches) => {
                    for batch in batches {
                        let edges = batch.len();
                        assert!(batch.properties.iter().all(|p| p.len() == edges));
                        let floats =
                            batch.properties.iter().filter_map(|p| p.as_primitive_opt::<Float64Type>());
                        assert!(floats.flat_map(|values| values.iter().flatten()).all(|v| !v.is_nan()));
                    }
                }
                Err(error) => {
                    errors += 1;
                    assert!(error.to_string().starts_with("edges: "), "{name} {seed}: {error}");
                }
            }
        }
    }
    assert!(errors > rounds, "the mutations do too little");
}

fn simple_ends(rows: i64) -> Vec<(&'static str, ArrayRef)> {
    let numbers = |factor: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values((0..rows).map(move |i| i * factor % 1009)))
    };
    vec![("src", numbers(7)), ("dst", numbers(11))]
}

#[test]
fn what_decoding_takes_is_told_before_and_refused_with_the_number_that_would_do() {
    let batch = table(simple_ends(100_000));
    for (name, format, bytes) in forms(&batch) {
        let mut reader = open(format, vec![bytes], &ReadOptions::default()).unwrap();
        let taken = reader.limit_memory(u64::MAX, 2).unwrap();
        let is_mapped = matches!(name, "arrow file" | "arrow stream");
        assert_eq!(taken == 0, is_mapped, "{name}");
        match reader.limit_memory(1000, 2) {
            Ok(taken) => assert!(is_mapped && taken == 0, "{name}"),
            Err(Error::Stop(Stop::OverBudget { needed_bytes, .. })) => {
                assert!(reader.limit_memory(needed_bytes, 2).unwrap() <= needed_bytes, "{name}");
                assert!(reader.limit_memory(needed_bytes - 1, 2).is_err(), "{name}");
            }
            Err(other) => panic!("{name}: {other}"),
        }
        let edges: usize = batches(reader.as_mut()).unwrap().iter().map(EdgeBatch::len).sum();
        assert_eq!(edges, 100_000, "{name}");
    }
}

#[test]
fn runs_of_long_texts_have_few_rows() {
    let text = |i: usize| format!("{i:01000}");
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values((0..20_000).map(|i| text(i % 5000))));
    let batch = table(vec![("src", Arc::clone(&texts)), ("dst", texts)]);
    for (name, format, bytes) in forms(&batch) {
        let mut reader = open(format, vec![bytes], &ReadOptions::default()).unwrap();
        let found = batches(reader.as_mut()).unwrap();
        assert!(found.iter().all(|batch| batch.len() <= 2048), "{name}");
        assert_eq!(found.iter().map(EdgeBatch::len).sum::<usize>(), 20_000, "{name}");
    }
}

#[test]
fn a_nested_column_counts_as_one_and_is_named_when_it_is_left_out() {
    let inner: ArrayRef = Arc::new(Int64Array::from_iter_values(0..5));
    let fields = ["a", "b"].map(|name| Arc::new(Field::new(name, DataType::Int64, false)));
    let nested: ArrayRef =
        Arc::new(StructArray::new(Fields::from(fields.to_vec()), vec![Arc::clone(&inner), inner], None));
    let batch = table([vec![("nested", nested)], simple_ends(5)].concat());
    let all = ReadOptions {
        source: Some("2".into()),
        target: Some("3".into()),
        properties: PickProperties::All,
        ..ReadOptions::default()
    };
    for (name, format, bytes) in forms(&batch) {
        let mut reader = open(format, vec![bytes], &all).unwrap();
        assert_eq!((reader.notes().len(), reader.warnings().len()), (1, 1), "{name}");
        assert!(
            reader.warnings()[0].to_string().ends_with("hold neither numbers nor texts: nested"),
            "{name}"
        );
        let found = batches(reader.as_mut()).unwrap();
        let sources: Vec<u64> = found.iter().flat_map(|batch| ints(&batch.source)).collect();
        assert_eq!(sources, [0, 7, 14, 21, 28], "{name}");
    }
}

#[test]
fn times_of_day_and_lengths_of_time_are_taken_where_their_numbers_are_declared() {
    let numbers = Int64Array::from_iter_values([7, 8, 9]);
    let spans: [(&str, ArrayRef); 3] = [
        ("day", Arc::new(numbers.reinterpret_cast::<Time64MicrosecondType>())),
        ("weight", Arc::new(numbers.reinterpret_cast::<DurationMillisecondType>())),
        ("milli", Arc::new(Time32MillisecondArray::from(vec![7, 8, 9]))),
    ];
    for (column, values) in spans {
        let batch = table([simple_ends(3), vec![(column, values)]].concat());
        let no_weight = ReadOptions { weight: Pick::Skip, ..ReadOptions::default() };
        let all = ReadOptions { properties: PickProperties::All, ..no_weight.clone() };
        let named =
            ReadOptions { properties: PickProperties::Columns(vec![column.to_owned()]), ..no_weight.clone() };
        let declaration = Declaration { name: column.to_uppercase(), property_type: ElementType::I64.into() };
        let declared = ReadOptions { schema: vec![declaration], ..all.clone() };
        let as_ids = ReadOptions { target: Some(column.to_owned()), source: Some("src".into()), ..no_weight };
        for (name, format, bytes) in forms(&batch) {
            let reader = open(format, vec![bytes.clone()], &all).unwrap();
            assert_eq!(reader.schema().properties, [""; 0], "{name}");
            assert!(
                reader.warnings()[0].to_string().contains(&format!("keeps: {column}; `schema")),
                "{name}: {:?}",
                reader.warnings()
            );
            for wrong in [&named, &as_ids] {
                let error = open(format, vec![bytes.clone()], wrong).err().expect(name).to_string();
                assert!(error.contains("times"), "{name}: {error}");
            }
            let mut reader = open(format, vec![bytes], &declared).unwrap();
            assert_eq!(
                (reader.notes().len(), reader.schema().properties.join(" ")),
                (1, column.to_owned()),
                "{name}"
            );
            let found = batches(reader.as_mut()).unwrap();
            let values: Vec<f64> = found.iter().flat_map(|batch| floats(&batch.properties[0])).collect();
            assert_eq!(values, [7.0, 8.0, 9.0], "{name}");
        }
    }
}

#[test]
fn lengths_of_time_are_a_weight_if_declared_and_have_one_unit_in_all_files() {
    let declared = |name: &str| ReadOptions {
        schema: vec![Declaration { name: name.to_owned(), property_type: ElementType::I64.into() }],
        ..ReadOptions::default()
    };
    let numbers = Int64Array::from_iter_values([7, 8, 9]);
    let of = |values: ArrayRef| forms(&table([simple_ends(3), vec![("weight", values)]].concat()));
    let millis = of(Arc::new(numbers.reinterpret_cast::<DurationMillisecondType>()));
    let micros = of(Arc::new(numbers.reinterpret_cast::<DurationMicrosecondType>()));
    let plain = of(Arc::new(numbers));
    for (((name, format, millis), (_, _, micros)), (_, _, plain)) in millis.into_iter().zip(micros).zip(plain)
    {
        let refused = |files: &[&Vec<u8>], options: &ReadOptions| {
            let files = files.iter().map(|&file| file.clone()).collect();
            open(format, files, options).err().expect(name).to_string()
        };
        let error = refused(&[&millis], &ReadOptions::default());
        assert!(
            error.contains("lengths of time") && error.contains("`schema = weight:i64`"),
            "{name}: {error}"
        );
        for pair in [[&millis, &micros], [&millis, &plain], [&plain, &millis]] {
            assert!(refused(&pair, &declared("weight")).contains("in other units"), "{name}");
        }
        // As columns are named for a database whose edges have such numbers.
        let columns = PickProperties::Columns(vec!["weight:number".to_owned()]);
        let of_database = ReadOptions { properties: columns, weight: Pick::Skip, ..ReadOptions::default() };
        for options in [declared("weight"), of_database] {
            let mut reader = open(format, vec![millis.clone(), millis.clone()], &options).unwrap();
            let found = batches(reader.as_mut()).unwrap();
            let values: Vec<f64> = found.iter().flat_map(|batch| floats(&batch.properties[0])).collect();
            assert_eq!(values, [7.0, 8.0, 9.0, 7.0, 8.0, 9.0], "{name}");
        }
    }
}

#[test]
fn a_weight_may_be_an_end() {
    let batch = table(simple_ends(4));
    let options = ReadOptions { weight: Pick::Column("dst".into()), ..ReadOptions::default() };
    for (name, format, bytes) in forms(&batch) {
        let mut reader = open(format, vec![bytes], &options).unwrap();
        assert_eq!((reader.schema().weight, reader.schema().properties.join(" ")), (Some(0), "dst".into()));
        let found = batches(reader.as_mut()).unwrap();
        let weights: Vec<f64> = found.iter().flat_map(|batch| floats(&batch.properties[0])).collect();
        assert_eq!(weights, [0.0, 11.0, 22.0, 33.0], "{name}");
    }
}

#[test]
fn a_text_of_parquet_that_is_not_utf8_is_an_error_that_names_its_row() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["first", "second", "third"]));
    let batch = table(vec![("src", Arc::clone(&texts)), ("dst", texts)]);
    let plain = WriterProperties::builder().set_dictionary_enabled(false);
    let mut bytes = parquet_bytes(&[batch], plain.build());
    let at = bytes.windows(6).position(|window| window == b"second").unwrap();
    bytes[at] = 0xff;
    let mut reader = open(Format::Parquet, vec![bytes], &ReadOptions::default()).unwrap();
    let error = batches(reader.as_mut()).unwrap_err().to_string();
    assert!(error.contains("the text in row 2 is not UTF-8"), "{error}");
}

#[test]
fn an_arrow_file_that_is_cut_short_after_it_was_opened_is_an_error_and_no_signal() {
    let ids = || Arc::new(Int64Array::from_iter_values(0..200_000)) as ArrayRef;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("edges.arrow");
    RealDisk.write(&path, &arrow_file(&[table(vec![("src", ids()), ("dst", ids())])], None)).unwrap();
    let input = Input::File(Arc::new(path.clone()));
    let mut reader = open_inputs(&[input], &ReadOptions::default()).unwrap().reader;
    RealDisk.open_for_writing(&path).unwrap().set_length(4096).unwrap();
    let parser = reader.parser();
    let block = reader.next_block().unwrap().unwrap();
    let error = parser.parse(block).unwrap_err().to_string();
    assert!(error.starts_with(&format!("{}: the system cannot read bytes", path.display())), "{error}");
    assert!(error.contains("cut short after it was opened"), "{error}");
}

/// Short texts, then one of 16 KiB in 4000 rows: so few of all that the mean of the column does not tell.
const SHARED_ROWS: usize = 400_000;

fn kind_of(row: usize) -> usize {
    if row < SHARED_ROWS - 4000 { row % 1000 } else { 1000 }
}

fn shared_text() -> RecordBatch {
    let long = "x".repeat(1 << 14);
    let text = |kind: usize| if kind < 1000 { format!("kind {kind}") } else { long.clone() };
    let values = StringArray::from_iter_values((0..=1000).map(text));
    let keys = Int32Array::from_iter_values((0..SHARED_ROWS).map(|row| kind_of(row) as i32));
    let kinds = DictionaryArray::new(keys, Arc::new(values));
    let ends: ArrayRef = Arc::new(Int64Array::from_iter_values(0..SHARED_ROWS as i64));
    table(vec![("source", Arc::clone(&ends)), ("target", ends), ("kind", Arc::new(kinds))])
}

#[test]
fn a_long_text_that_many_rows_share_is_counted_before_it_is_copied() {
    let table = shared_text();
    let one = std::slice::from_ref(&table);
    let files = [
        (Format::Parquet, parquet_bytes(one, WriterProperties::builder().build())),
        (Format::Arrow, arrow_file(one, Some(CompressionType::ZSTD))),
    ];
    let options = ReadOptions { properties: PickProperties::All, ..ReadOptions::default() };
    for (format, file) in files {
        assert!(file.len() < 1 << 23, "{}", file.len());
        let open = || open(format, vec![file.clone()], &options).unwrap();
        let kinds: Vec<_> =
            batches(open().as_mut()).unwrap().iter().flat_map(|b| texts(&b.properties[0])).collect();
        assert_eq!(kinds.len(), SHARED_ROWS, "{format:?}");
        let long = "x".repeat(1 << 14);
        let is_right = |(row, text): (usize, &String)| match kind_of(row) {
            1000 => *text == long,
            kind => *text == format!("kind {kind}"),
        };
        assert!(kinds.iter().enumerate().all(is_right), "{format:?}");
        let mut reader = open();
        reader.limit_memory(32 << 20, 1).unwrap();
        let read = batches(reader.as_mut()).map(|batches| batches.len());
        let refused = read.expect_err(&format!("{format:?}")).to_string();
        assert!(refused.contains("column \"kind\", rows "), "{refused}");
        assert!(refused.contains("a text of 16384 bytes and others that many rows share take "), "{refused}");
    }
}
