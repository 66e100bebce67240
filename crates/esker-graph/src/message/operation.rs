//! Operations, as messages name them.

use super::setting::Assignment;

/// Declares the operations with the words that the library has for each.
macro_rules! operations {
    ($($(#[$doc:meta])+ $variant:ident = $words:literal,)+) => {
        /// An operation that a message tells the reader to use.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        pub enum Operation {
            $($(#[$doc])+ $variant,)+
        }

        impl Operation {
            /// All operations.
            pub const ALL: &[Self] = &[$(Self::$variant),+];

            /// The words of the library, as in `cluster split`.
            pub fn words(self) -> &'static str {
                match self {
                    $(Self::$variant => $words,)+
                }
            }
        }
    };
}

operations! {
    /// Copies a database.
    Backup = "backup",
    /// Verifies a database.
    Check = "check",
    /// All operations of clusters.
    Cluster = "cluster",
    /// Verifies a cluster.
    ClusterCheck = "cluster check",
    /// Makes a cluster.
    ClusterCreate = "cluster create",
    /// Writes the edges of a cluster to a file.
    ClusterExport = "cluster export",
    /// Makes a database of a cluster.
    ClusterMerge = "cluster merge",
    /// Makes a cluster of a database.
    ClusterSplit = "cluster split",
    /// Adds the edges of a file to a cluster as they come.
    ClusterStream = "cluster stream",
    /// Starts workers on a machine of a cluster.
    ClusterWorker = "cluster worker",
    /// Merges the layers of a database.
    Compact = "compact",
    /// Writes a graph to a file.
    Export = "export",
    /// Forgets versions.
    Forget = "forget",
    /// Lists the versions.
    Log = "log",
    /// Sets what a database keeps for all that write to it.
    Options = "options",
    /// Reads what a damaged database still has.
    Recover = "recover",
    /// Runs an algorithm.
    Run = "run",
    /// Sets properties of vertices.
    Set = "set",
}

impl Operation {
    /// The operation of these [words](Self::words).
    pub fn of_words(words: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|operation| operation.words() == words)
    }

    /// This operation on something, such as a path, or several things one after another.
    pub fn on(self, object: impl std::fmt::Display) -> Call {
        Call::from(self).on(object)
    }

    /// This operation with a setting.
    ///
    /// ```
    /// use esker_graph::{Message, Operation, Setting};
    ///
    /// let call = Operation::Compact.with(Setting::Encoding.to("tiles"));
    /// assert_eq!(Message::from(call).to_string(), "`compact (encoding = tiles)`");
    /// ```
    pub fn with(self, setting: impl Into<Assignment>) -> Call {
        Call::from(self).with(setting)
    }
}

/// An operation with what it is given.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Call {
    /// The operation.
    pub operation: Operation,
    /// What it works on.
    pub objects: Vec<String>,
    /// Its settings.
    pub settings: Vec<Assignment>,
}

impl Call {
    /// This call on something more.
    #[must_use]
    pub fn on(mut self, object: impl std::fmt::Display) -> Self {
        self.objects.push(object.to_string());
        self
    }

    /// This call with one more setting.
    #[must_use]
    pub fn with(mut self, setting: impl Into<Assignment>) -> Self {
        self.settings.push(setting.into());
        self
    }
}

impl From<Operation> for Call {
    fn from(operation: Operation) -> Self {
        Self { operation, objects: Vec::new(), settings: Vec::new() }
    }
}

impl std::fmt::Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.operation.words())?;
        self.objects.iter().try_for_each(|object| write!(f, " {object}"))?;
        if !self.settings.is_empty() {
            let settings: Vec<String> = self.settings.iter().map(Assignment::to_string).collect();
            write!(f, " ({})", settings.join(", "))?;
        }
        Ok(())
    }
}
