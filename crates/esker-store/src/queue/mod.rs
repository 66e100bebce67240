//! The queue of a database: changes that other processes hand to the one that writes to it.
//!
//! One process holds the lock of a database. If it serves the queue, others need not wait until it ends: they
//! leave what they would commit as a file in the directory `queue`, and the holder commits it, in turn with
//! its own commits, and leaves an answer. Names of files begin with the id of the request:
//!
//! | name | written by | meaning |
//! |---|---|---|
//! | `served` | holder | locked as long as the holder takes requests |
//! | `ID.client` | client | locked as long as somebody waits for the answer |
//! | `ID.request` | client | the request, complete |
//! | `ID.taken` | holder | the same file: the client can no longer withdraw it |
//! | `ID.N.taken` | holder | the same file: it will be version N, or none |
//! | `ID.answer` | holder | what became of it |
//!
//! Each step is the renaming of a file, so of a client that withdraws and a holder that takes, one wins.
//!
//! **Durable when answered.** The holder answers after the commit is as durable as its own are.
//!
//! **Nothing twice.** If the holder dies, `ID.N.taken` says which version the request would have become, and
//! no other commit of that process could become it. Whoever opens the database to write settles these
//! requests before anything else: version N is there, and then the answer is yes, or it is not, and the
//! request can be taken again ([`QueueFiles::settle`]). A client whose holder is gone opens the database
//! itself.
//!
//! **Nothing late.** A request without a locked `ID.client` is not carried out: nobody waits for it. So
//! nothing here has to survive the end of the machine, and nothing is synced.

mod request;
mod files;

pub(crate) use files::{QueueFiles, RequestFate, SentRequest, TakenRequest};
pub(crate) use request::{Answer, put_request, take_request};
