//! The words of Python for settings and operations that messages of the library name.

use esker::graph::{AlgorithmOption, Assignment, Call, Language, Message, Operation, Setting, SettingValue};

/// Arguments and methods of the package `esker`.
pub(crate) struct PythonWords;

/// A message of the library, as Python says it.
pub(crate) fn said(message: &Message) -> String {
    message.render(&PythonWords)
}

impl Language for PythonWords {
    fn setting(&self, Assignment { setting, value }: &Assignment) -> String {
        let name = argument(*setting);
        match value {
            None => name.to_owned(),
            Some(SettingValue::Flag(true)) => format!("{name}=True"),
            Some(SettingValue::Flag(false)) => format!("{name}=False"),
            Some(SettingValue::Number(number)) => format!("{name}={number}"),
            Some(SettingValue::Word(text) | SettingValue::Name(text)) => format!("{name}='{text}'"),
            Some(SettingValue::Typed { name: column, kind }) => format!("{name}={{'{column}': '{kind}'}}"),
            Some(SettingValue::Blank(what)) => match what.split_once(':') {
                Some((column, kind)) => format!("{name}={{{column}: '{kind}'}}"),
                None => format!("{name}={what}"),
            },
        }
    }

    fn option(&self, AlgorithmOption { name, value }: &AlgorithmOption) -> String {
        let name = name.replace('-', "_");
        match value {
            None => name,
            Some(value) => format!("{name}='{value}'"),
        }
    }

    fn operation(&self, call: &Call) -> String {
        let given = |first: &str| {
            let settings = call.settings.iter().map(|setting| self.setting(setting));
            let first = (!first.is_empty()).then(|| first.to_owned());
            first.into_iter().chain(settings).collect::<Vec<_>>().join(", ")
        };
        match call.operation {
            Operation::Backup => format!("backup({})", given("")),
            Operation::Check | Operation::ClusterCheck => format!("check({})", given("")),
            Operation::Cluster => "esker.cluster".to_owned(),
            // What clusters are made of depends on the setting that the message names, if it names one.
            Operation::ClusterCreate if call.settings.is_empty() => {
                "esker.cluster(path, shards=...)".to_owned()
            }
            Operation::ClusterCreate => format!("esker.cluster({})", given("...")),
            Operation::ClusterSplit => format!("esker.cluster({})", given("..., database=...")),
            Operation::ClusterExport | Operation::Export => format!("export({})", given("")),
            Operation::ClusterMerge => format!("merge({})", given("")),
            Operation::ClusterStream => format!("stream({})", given("")),
            Operation::Compact => format!("compact({})", given("")),
            // The database is the object of the method.
            Operation::Forget => format!("forget({})", given(call.objects.get(1).map_or("", String::as_str))),
            Operation::Log => format!("versions({})", given("")),
            Operation::Options => "make_ids_texts()".to_owned(),
            Operation::Recover => format!("esker.recover({})", given("path")),
            Operation::Run if call.settings.iter().any(|given| given.setting == Setting::List) => {
                "esker.ALGORITHMS".to_owned()
            }
            Operation::Run => {
                let name = call.objects.first().map_or("run", String::as_str).replace('-', "_");
                format!("{name}({})", given(""))
            }
            Operation::Set => format!("set_vertices({})", given("")),
            // No Python program is the worker of a cluster.
            Operation::ClusterWorker => format!("`esker {call}`"),
        }
    }
}

/// The name of the argument of a setting.
fn argument(setting: Setting) -> &'static str {
    match setting {
        Setting::SourceColumn | Setting::StreamName => "source",
        Setting::TargetColumn => "target",
        Setting::Property => "properties",
        Setting::AddMissing => "add_vertices",
        Setting::AsUndirected => "undirected",
        Setting::Define => "define_edge_property",
        Setting::VertexNumbers => "vertex numbers as ids",
        // The library has the word of Python.
        other => other.word(),
    }
}
