// Files of the corpus that libraries of npm write.
//
//     npm install graphology graphology-gexf graphology-types ngraph.graph ngraph.tojson ngraph.todot cytoscape papaparse \
//         d3-dsv csv-stringify @dagrejs/graphlib graphlib-dot
//     node js.mjs
import fs from "node:fs";
import path from "node:path";
import { createRequire } from "node:module";

const require = createRequire(path.join(process.cwd(), "index.js"));
const corpus = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), "..", "corpus");
const word = (text) => (/^[^\s"=\\]+$/.test(String(text)) ? String(text) : JSON.stringify(String(text)));

/** Writes a file and its meaning; `graph` is {directed, vertices: {id: values}, edges: [[source, target, values]]}. */
function put(library, name, call, text, graph, more = {}) {
  const folder = path.join(corpus, library.replace(/^@.*\//, ""));
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, name), text);
  const line = (sign, ids, values = {}) =>
    [sign, ...ids.map(word), ...Object.entries(values).filter(([, of]) => of !== undefined && of !== null)
      .map(([key, of]) => `${word(key)}=${JSON.stringify(of)}`)].join(" ");
  const root = path.join(process.cwd(), "node_modules", library, "package.json");
  const lines = [`by: ${library} ${JSON.parse(fs.readFileSync(root)).version}`, `call: ${call}`];
  for (const [key, of] of Object.entries(more)) lines.push(`${key}: ${[].concat(of).map((one) => (key === "refused" || key === "warned" ? JSON.stringify(one) : one)).join(" ")}`);
  if (graph && !(more.refused && !more.with)) {
    lines.push(graph.directed ? "directed" : "undirected");
    for (const [id, values] of Object.entries(graph.vertices ?? {})) lines.push(line("v", [id], values));
    for (const [source, target, values] of graph.edges) lines.push(line("e", [source, target], values));
  }
  fs.writeFileSync(path.join(folder, `${name}.meant`), `${lines.join("\n")}\n`);
}

// graphology
const graphology = require("graphology");
const gexf = require("graphology-gexf");
function social(Type) {
  const graph = new Type();
  graph.addNode("ann", { label: "Ann", age: 30, x: 1.5, y: -2 });
  graph.addNode("bob", { label: "Bob <b>", x: 0, y: 0.25 });
  graph.addNode("zoë", {});
  graph.addEdgeWithKey("e1", "ann", "bob", { weight: 2, kind: "likes" });
  graph.addEdgeWithKey("e2", "bob", "zoë", { weight: 0.5, kind: "knows" });
  return graph;
}
const ofGraphology = (graph) => ({
  directed: graph.type !== "undirected",
  vertices: Object.fromEntries(graph.mapNodes((id, values) => [id, values])),
  edges: graph.mapEdges((_, values, source, target, _s, _t, undirected) => [source, target, values, undirected])
    .flatMap(([s, t, values, undirected]) => (undirected && graph.type === "mixed" ? [[s, t, values], [t, s, values]] : [[s, t, values]])),
});
const directed = social(graphology.DirectedGraph);
const undirected = social(graphology.UndirectedGraph);
const mixed = social(graphology.MultiGraph);
mixed.addUndirectedEdgeWithKey("e3", "ann", "zoë", { weight: 4, kind: "married" });
mixed.addEdgeWithKey("e4", "ann", "bob", { weight: 7, kind: "pays" });
put("graphology", "directed.json", "JSON.stringify(graph.export())", JSON.stringify(directed.export()), ofGraphology(directed));
put("graphology", "undirected.json", "JSON.stringify(graph.export(), null, 1)", JSON.stringify(undirected.export(), null, 1), ofGraphology(undirected));
put("graphology", "mixed.json", "JSON.stringify(graph.export())", JSON.stringify(mixed.export()), ofGraphology(mixed));
put("graphology-gexf", "directed.gexf", "gexf.write(graph)", gexf.write(directed), ofGraphology(directed), { maybe: ["label", "x", "y"] });
put("graphology-gexf", "undirected.gexf", "gexf.write(graph)", gexf.write(undirected), ofGraphology(undirected), { maybe: ["label", "x", "y"] });
put("graphology-gexf", "mixed.gexf", "gexf.write(graph)", gexf.write(mixed), ofGraphology(mixed), { maybe: ["label", "x", "y"] });

// ngraph
const ngraph = require("ngraph.graph")();
ngraph.addNode("ann", { age: 30 });
ngraph.addLink("ann", "bob", { weight: 3 });
ngraph.addLink("bob", 7);
ngraph.addNode("alone");
const ofNgraph = { directed: true, vertices: {}, edges: [] };
ngraph.forEachNode((node) => { ofNgraph.vertices[node.id] = node.data ?? {}; });
ngraph.forEachLink((link) => { ofNgraph.edges.push([link.fromId, link.toId, link.data]); });
put("ngraph.tojson", "graph.json", "tojson(graph)", require("ngraph.tojson")(ngraph), ofNgraph);
put("ngraph.todot", "graph.dot", "todot(graph)", require("ngraph.todot")(ngraph), ofNgraph);

// Cytoscape.js
const cytoscape = require("cytoscape");
const elements = [{ data: { id: "a", size: 3 } }, { data: { id: "b", size: 4.5 }, position: { x: 1, y: 2 } }, { data: { id: "c" } },
  { data: { id: "ab", source: "a", target: "b", weight: 2 } }, { data: { id: "ba", source: "b", target: "a", weight: 1 } }];
const cy = cytoscape({ headless: true, elements });
const ofCytoscape = { directed: true, vertices: { a: { size: 3 }, b: { size: 4.5 }, c: {} }, edges: [["a", "b", { weight: 2 }], ["b", "a", { weight: 1 }]] };
put("cytoscape", "graph.cyjs", "JSON.stringify(cy.json())", JSON.stringify(cy.json()), ofCytoscape,
  { maybe: ["classes grabbable group locked pannable position removed selectable selected"] });
put("cytoscape", "elements.json", "JSON.stringify(cy.elements().jsons())", JSON.stringify(cy.elements().jsons()), ofCytoscape, { refused: ["JSON"] });

// Tables
const rows = [{ from: "ann", to: "bob, b.", amount: 1.5, paid: true }, { from: "bob, b.", to: "zoë", amount: -2, paid: false }, { from: "zoë", to: "ann", amount: 1e21, paid: true }];
const ofRows = { directed: true, edges: rows.map(({ from, to, ...rest }) => [from, to, rest]) };
const all = { with: "property=all" };
const papa = require("papaparse");
put("papaparse", "rows.csv", "unparse(rows)", papa.unparse(rows), ofRows, all);
put("papaparse", "semicolon.csv", "unparse(rows, {delimiter: ';', quotes: true, newline: '\\n'})", papa.unparse(rows, { delimiter: ";", quotes: true, newline: "\n" }), ofRows, all);
const d3 = require("d3-dsv");
put("d3-dsv", "rows.csv", "csvFormat(rows)", d3.csvFormat(rows), ofRows, all);
put("d3-dsv", "rows.tsv", "tsvFormat(rows)", d3.tsvFormat(rows), ofRows, all);
const { stringify } = require("csv-stringify/sync");
put("csv-stringify", "rows.csv", "stringify(rows, {header: true, bom: true, record_delimiter: 'windows'})", stringify(rows, { header: true, bom: true, record_delimiter: "windows" }),
  { directed: true, edges: rows.map(({ from, to, amount, paid }) => [from, to, { amount, paid: paid ? "1" : undefined }]) }, { ...all, maybe: ["paid"] });

// dagre's graphlib
const { Graph, json } = require("@dagrejs/graphlib");
const dagre = new Graph({ directed: true });
dagre.setNode("a", "first");
dagre.setEdge("a", "b", { weight: 2 });
put("@dagrejs/graphlib", "graph.json", "JSON.stringify(json.write(graph))", JSON.stringify(json.write(dagre)), null, { refused: ["v"] });
const dot = require("graphlib-dot");
const { Graph: OldGraph } = require("graphlib");
const old = new OldGraph({ directed: false });
old.setNode("a b", { size: 3 });
old.setEdge("a b", "c", { weight: 2 });
put("graphlib-dot", "graph.dot", "dot.write(graph)", dot.write(old), { directed: false, vertices: { "a b": { size: 3 } }, edges: [["a b", "c", { weight: 2 }]] });
