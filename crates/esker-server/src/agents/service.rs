//! The server on standard input and output.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use esker::SessionOptions;
use esker::graph::{Cancel, Run};
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData, Implementation,
    ListToolsResult, PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as ToolModel,
    ToolAnnotations,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt};
use serde_json::{Map, Value, json};

use super::excerpt::excerpt;
use super::lines::Lines;
use super::ranking_run::run;
use super::shared::Agents;
use super::tools::{Advice, Asks, OF_ALGORITHMS, RUN, TOOLS, Tool, query, route};
use crate::ask::Ask;
use crate::computing::algorithms::{algorithm_of, names_of_algorithms};
use crate::computing::rows::{OF_ROWS, rows};
use crate::failure::{Failure, Outcome};
use crate::limits::END_TIME_MAX;
use crate::routes::{Does, Route};
use crate::served::Served;
use crate::server::ServeError;
use crate::shape::with_safe_numbers;
use crate::work::{Effort, Workers};

/// How often the token that ends the server is looked at.
const END_EVERY: Duration = Duration::from_millis(20);

/// What a model is told of all tools.
const INSTRUCTIONS: &str = "Questions about one graph database, which is only read. Ask `describe` first. Ids of \
    vertices are texts, and so are whole numbers beyond 2^53. Conditions (`where`) are those of SQL on properties of \
    edges, such as amount > 100 and source.country = 'DE'. Answers show a limited number of rows; `note` says how many \
    there are.";

/// A server of the Model Context Protocol over one database.
pub struct AgentServer {
    agents: Agents,
    ending: Cancel,
}

impl std::fmt::Debug for AgentServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("AgentServer").finish_non_exhaustive()
    }
}

impl AgentServer {
    /// Opens a database; `session` has the threads and the memory limit of all that is computed, and the
    /// token that ends the server.
    ///
    /// # Errors
    /// If the database cannot be opened.
    pub fn open(database: impl Into<PathBuf>, session: &SessionOptions) -> Result<Self, ServeError> {
        let served = Served::open(&database.into(), session).map_err(ServeError::Database)?;
        let (workers, runs) = (Workers::default(), Arc::default());
        let agents = Agents { served: Arc::new(served), workers, runs };
        Ok(Self { agents, ending: session.cancel.clone() })
    }

    /// Answers calls that come on standard input, on standard output, until the input or the token ends.
    /// Calls that were read before the end of the input are answered.
    ///
    /// # Errors
    /// If the system refuses threads, or what comes first is not of the protocol.
    pub fn run(self) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(ServeError::System)?;
        let Self { agents, ending } = self;
        let runs = Arc::clone(&agents.runs);
        let served = runtime.block_on(async move {
            let talking = tokio::spawn(async move {
                let service =
                    agents.serve(Lines::of_standard_streams()).await.map_err(|error| error.to_string())?;
                service.waiting().await.map(drop).map_err(|error| error.to_string())
            });
            while !talking.is_finished() && !ending.is_cancelled() {
                tokio::time::sleep(END_EVERY).await;
            }
            if ending.is_cancelled() { Ok(()) } else { talking.await.unwrap_or(Ok(())) }
        });
        runs.end();
        // A thread may wait for input that does not come.
        runtime.shutdown_timeout(END_TIME_MAX);
        served.map_err(|error| ServeError::System(std::io::Error::other(error)))
    }
}

impl ServerHandler for Agents {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let mut info = ServerConfig::new(capabilities).with_instructions(INSTRUCTIONS);
        info.server_info = Implementation::new("esker", env!("CARGO_PKG_VERSION"));
        info
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.iter().map(model_of).collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = TOOLS.iter().find(|tool| tool.name == request.name) else {
            let names: Vec<&str> = TOOLS.iter().map(|tool| tool.name).collect();
            let message = format!("there is no tool {:?}, but {}", request.name, names.join(", "));
            return Err(ErrorData::invalid_params(message, None));
        };
        let advice = Advice::of(tool, request.arguments.as_ref());
        let answering = self.answer(tool, request.arguments.unwrap_or_default());
        let result = match context.ct.run_until_cancelled(answering).await {
            Some(Ok(answer)) => CallToolResult::success(vec![ContentBlock::text(excerpt(answer, &advice))]),
            Some(Err(failure)) => {
                let told = failure.told(self.served.path()).1;
                let message = told["error"]["message"].as_str().unwrap_or_default();
                CallToolResult::error(vec![ContentBlock::text(message)])
            }
            None => CallToolResult::error(vec![ContentBlock::text("the call was cancelled")]),
        };
        Ok(result.into())
    }
}

fn model_of(tool: &Tool) -> ToolModel {
    let schema = match tool.schema() {
        Value::Object(schema) => schema,
        _ => Map::new(),
    };
    let mut model = ToolModel::new(tool.name, tool.about, Arc::new(schema));
    model.annotations = Some(ToolAnnotations::new().read_only(true).idempotent(true).open_world(false));
    model
}

impl Agents {
    async fn answer(&self, tool: &Tool, mut arguments: Map<String, Value>) -> Outcome {
        let answer = match tool.asks {
            Asks::Route(path) => {
                let route = route(path).ok_or_else(|| Failure::usage("there is no such question"))?;
                self.ask(route, arguments).await?
            }
            Asks::Algorithms => match query(&arguments, &[OF_ALGORITHMS])?.text("name") {
                Some(name) => algorithm_of(name)?,
                None => names_of_algorithms(),
            },
            Asks::Run => run(self, arguments).await?,
            Asks::Rows => {
                let name = query(
                    &arguments.remove(RUN.name).into_iter().map(|id| (RUN.name.to_owned(), id)).collect(),
                    &[&[RUN]],
                )?;
                let finished = self.runs.find(name.required(RUN.name))?.finished()?;
                let query = query(&arguments, &[OF_ROWS])?;
                let answer = move |_: &Served, run: &Run| rows(&finished, &query, run);
                self.workers.answer(&self.served, Effort::Large, answer).await?
            }
        };
        Ok(with_safe_numbers(answer))
    }

    /// Asks as a request would.
    async fn ask(&self, route: &'static Route, arguments: Map<String, Value>) -> Outcome {
        let Does::Answer(does) = route.does else { return Ok(json!({})) };
        let (query, body) = match route.body {
            Some(shape) => {
                let body = Value::Object(arguments);
                shape.check_members(&body)?;
                (query(&Map::new(), &[])?, body)
            }
            None => (query(&arguments, route.parameters)?, Value::Null),
        };
        let answer = move |served: &Served, run: &Run| does(&Ask { served, run, query: &query, body: &body });
        self.workers.answer(&self.served, route.effort, answer).await
    }
}
