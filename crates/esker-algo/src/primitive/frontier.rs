//! The set of vertices active in a round, as a list while it is small and as a bitmap once it is large.

use std::borrow::Cow;

use esker_graph::{Bitmap, Direction, Graph, Run, Select, Stop, VertexId, vertex};

/// Lists shorter than this are copied, marked and mapped on the calling thread.
pub(super) const SERIAL_LEN_MAX: usize = 1 << 12;
/// A bitmap with fewer members than one in this many vertices is turned into a list.
const LIST_DIVISOR: usize = 32;

/// A set of vertices with the number of arcs that leave it. Memory: one id a member, or one bit a vertex.
///
/// ```
/// use esker_algo::primitive::Frontier;
/// use esker_graph::Csr;
///
/// let csr = Csr::directed(4, &[(0, 1, ()), (0, 2, ()), (3, 0, ())])?;
/// let mut frontier = Frontier::one(&csr.graph(), 0);
/// frontier.add(&csr.graph(), &[3]);
/// assert_eq!((frontier.len(), frontier.arcs()), (2, 3)); // three edges leave its members
/// # Ok::<(), esker_graph::Stop>(())
/// ```
#[derive(Debug)]
pub struct Frontier {
    members: Members,
    num_vertices: usize,
    len: usize,
    arcs: u64,
}

#[derive(Debug)]
enum Members {
    List(Vec<VertexId>),
    Bits(Bitmap),
}

impl Frontier {
    /// No vertex.
    pub fn empty<G: Graph>(graph: &G) -> Self {
        Self::from_list(graph, Vec::new())
    }

    /// One vertex.
    pub fn one<G: Graph>(graph: &G, v: VertexId) -> Self {
        Self::from_list(graph, vec![v])
    }

    /// The vertices of `list`, each of which stands there once. O(its length), on the calling thread.
    pub fn from_list<G: Graph>(graph: &G, list: Vec<VertexId>) -> Self {
        let arcs = list.iter().map(|&v| graph.degree(Direction::Out, v) as u64).sum();
        Self::from_counted_list(graph.num_vertices(), list, arcs)
    }

    /// Every vertex.
    pub fn all<G: Graph>(graph: &G) -> Self {
        let n = graph.num_vertices();
        let bits = Bitmap::new(n);
        for word in 0..bits.num_words() {
            let len = (n - word * 64).min(64);
            bits.set_word(word, u64::MAX >> (64 - len));
        }
        Self { members: Members::Bits(bits), num_vertices: n, len: n, arcs: graph.num_arcs() }
    }

    /// As [`Frontier::from_list`], with the sum of the out-degrees known.
    pub(super) fn from_counted_list(num_vertices: usize, list: Vec<VertexId>, arcs: u64) -> Self {
        Self { len: list.len(), members: Members::List(list), num_vertices, arcs }
    }

    /// The members of `bits`, with their number and the sum of their out-degrees known.
    pub(super) fn from_counted_bits(bits: Bitmap, len: usize, arcs: u64) -> Self {
        let num_vertices = bits.len();
        let members = if len < num_vertices / LIST_DIVISOR {
            let mut list = Vec::with_capacity(len);
            list.extend(bits.iter());
            Members::List(list)
        } else {
            Members::Bits(bits)
        };
        Self { members, num_vertices, len, arcs }
    }

    /// Adds the vertices of `list`, which are distinct and not yet members. O(its length), on the calling
    /// thread.
    pub fn add<G: Graph>(&mut self, graph: &G, list: &[VertexId]) {
        self.len += list.len();
        self.arcs += list.iter().map(|&v| graph.degree(Direction::Out, v) as u64).sum::<u64>();
        match &mut self.members {
            Members::List(members) => members.extend_from_slice(list),
            Members::Bits(bits) => list.iter().for_each(|&v| bits.insert_alone(v)),
        }
    }

    /// Number of members.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Sum of the out-degrees of the members.
    pub fn arcs(&self) -> u64 {
        self.arcs
    }

    /// Number of vertices of the graph.
    pub fn num_vertices(&self) -> usize {
        self.num_vertices
    }

    /// The members as a scan takes them.
    pub fn select(&self) -> Select<'_> {
        match &self.members {
            Members::List(list) => Select::List(list),
            Members::Bits(_) if self.len == self.num_vertices => Select::All,
            Members::Bits(bits) => Select::Bits(bits),
        }
    }

    /// The members, each once; in ascending order if they are kept as a bitmap.
    pub fn iter(&self) -> Box<dyn Iterator<Item = VertexId> + '_> {
        match &self.members {
            Members::List(list) => Box::new(list.iter().copied()),
            Members::Bits(bits) => Box::new(bits.iter()),
        }
    }

    /// The members as a bitmap, made by the threads of `run` if it is not there yet: O(members + n/64).
    ///
    /// # Errors
    /// [`Stop::Cancelled`].
    pub fn bits(&self, run: &Run) -> Result<FrontierBits<'_>, Stop> {
        let list = match &self.members {
            Members::Bits(bits) => return Ok(FrontierBits(FrontierForm::Borrowed(bits))),
            Members::List(list) => list,
        };
        let bits = Bitmap::new(self.num_vertices);
        if list.len() < SERIAL_LEN_MAX || run.threads() == 1 {
            for &v in list {
                bits.insert_alone(v);
            }
        } else {
            run.share_ranges::<(), Stop>(
                list.len(),
                SERIAL_LEN_MAX,
                || (),
                |(), range| {
                    list[range].iter().for_each(|&v| {
                        bits.insert(v);
                    });
                    Ok(())
                },
            )?;
        }
        Ok(FrontierBits(FrontierForm::Owned(bits)))
    }

    /// The members as a list, ascending if they are kept as a bitmap.
    pub fn list(&self) -> Cow<'_, [VertexId]> {
        match &self.members {
            Members::List(list) => Cow::Borrowed(list),
            Members::Bits(bits) => Cow::Owned(bits.iter().collect()),
        }
    }
}

/// The members of a [`Frontier`] as a bitmap, borrowed from it if that is how it keeps them.
#[derive(Debug)]
pub struct FrontierBits<'a>(FrontierForm<'a>);

#[derive(Debug)]
enum FrontierForm<'a> {
    Borrowed(&'a Bitmap),
    Owned(Bitmap),
}

impl std::ops::Deref for FrontierBits<'_> {
    type Target = Bitmap;

    fn deref(&self) -> &Bitmap {
        match &self.0 {
            FrontierForm::Borrowed(bits) => bits,
            FrontierForm::Owned(bits) => bits,
        }
    }
}

/// The vertices of `0..n`.
pub(super) fn all_vertices(range: std::ops::Range<usize>) -> impl Iterator<Item = VertexId> {
    range.map(vertex)
}
