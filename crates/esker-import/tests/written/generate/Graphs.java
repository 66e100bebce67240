// Files of the corpus that libraries of Java write: JGraphT, TinkerPop, Gephi's toolkit.
//
//     mvn dependency:copy-dependencies for org.jgrapht:jgrapht-io:1.5.2, org.apache.tinkerpop:tinkergraph-gremlin:3.7.3,
//         org.gephi:gephi-toolkit:0.10.1:all
//     java -cp 'lib/*' Graphs.java CORPUS
import java.io.*;
import java.nio.file.*;
import java.util.*;
import org.apache.tinkerpop.gremlin.structure.io.IoCore;
import org.apache.tinkerpop.gremlin.tinkergraph.structure.TinkerFactory;
import org.jgrapht.Graph;
import org.jgrapht.graph.*;
import org.jgrapht.nio.*;
import org.jgrapht.nio.csv.*;
import org.jgrapht.nio.dimacs.*;
import org.jgrapht.nio.dot.*;
import org.jgrapht.nio.gml.*;
import org.jgrapht.nio.graph6.*;
import org.jgrapht.nio.graphml.*;
import org.jgrapht.nio.json.*;
import org.jgrapht.nio.lemon.*;
import org.jgrapht.nio.matrix.*;

public class Graphs {
    static Path corpus;

    interface Writer { void write(OutputStream out) throws Exception; }

    static String word(Object text) {
        String given = String.valueOf(text);
        return given.matches("[^\\s\"=\\\\]+") ? given : "\"" + given.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }

    static void put(String by, String name, String call, String told, Writer writer) throws Exception {
        Path file = corpus.resolve(by.split(" ")[0]).resolve(name);
        Files.createDirectories(file.getParent());
        try (OutputStream out = Files.newOutputStream(file)) { writer.write(out); }
        Files.writeString(Path.of(file + ".meant"), "by: " + by + "\ncall: " + call + "\n" + told);
    }

    /** The graph in the words of the corpus. `first` is the number of the first vertex, or -1 where names are kept. */
    static String told(Graph<String, DefaultWeightedEdge> graph, int first, boolean weights, boolean ages) {
        List<String> order = new ArrayList<>(graph.vertexSet());
        java.util.function.Function<String, String> id = v -> word(first < 0 ? v : String.valueOf(order.indexOf(v) + first));
        StringBuilder text = new StringBuilder(graph.getType().isDirected() ? "directed\n" : "undirected\n");
        for (String v : order) text.append("v " + id.apply(v) + (ages ? " age=" + v.length() : "") + "\n");
        for (DefaultWeightedEdge e : graph.edgeSet()) {
            String weight = weights ? " weight=" + graph.getEdgeWeight(e) : "";
            text.append("e " + id.apply(graph.getEdgeSource(e)) + " " + id.apply(graph.getEdgeTarget(e)) + weight + "\n");
        }
        return text.toString();
    }

    static void fill(Graph<String, DefaultWeightedEdge> graph) {
        for (String v : List.of("ann", "bob", "cleo b", "dan", "alone")) graph.addVertex(v);
        Object[][] edges = {{"ann", "bob", 2.5}, {"bob", "cleo b", 1.0}, {"cleo b", "ann", 0.1}, {"dan", "ann", 4.0}};
        for (Object[] e : edges) graph.setEdgeWeight(graph.addEdge((String) e[0], (String) e[1]), (double) e[2]);
    }

    static <E> E with(E exporter, java.util.function.Consumer<E> settings) {
        settings.accept(exporter);
        return exporter;
    }

    static void jgrapht() throws Exception {
        String by = "jgrapht 1.5.2";
        var directed = new DirectedWeightedMultigraph<String, DefaultWeightedEdge>(DefaultWeightedEdge.class);
        var undirected = new SimpleWeightedGraph<String, DefaultWeightedEdge>(DefaultWeightedEdge.class);
        fill(directed);
        fill(undirected);
        java.util.function.Function<String, String> name = v -> v;
        java.util.function.Function<String, Map<String, Attribute>> age =
            v -> Map.of("age", DefaultAttribute.createAttribute(v.length()));
        for (var graph : List.of(directed, undirected)) {
            String which = graph == directed ? "directed" : "undirected";
            String plain = told(graph, -1, false, false), weighted = told(graph, -1, true, false), all = told(graph, -1, true, true);
            String says = "with: " + which + "\n";
            put(by, which + ".graphml", "new GraphMLExporter<>(v -> v).exportGraph(graph, out)", all, out -> {
                var exporter = new GraphMLExporter<String, DefaultWeightedEdge>(name);
                exporter.setExportEdgeWeights(true);
                exporter.registerAttribute("age", GraphMLExporter.AttributeCategory.NODE, AttributeType.INT);
                exporter.setVertexAttributeProvider(age);
                exporter.exportGraph(graph, out);
            });
            put(by, which + ".gml", "new GmlExporter<>().exportGraph(graph, out)", "maybe: label\n" + told(graph, 1, true, false), out -> {
                var exporter = new GmlExporter<String, DefaultWeightedEdge>();
                exporter.setParameter(GmlExporter.Parameter.EXPORT_EDGE_WEIGHTS, true);
                exporter.exportGraph(graph, out);
            });
            put(by, which + ".dot", "new DOTExporter<>(v -> quoted(v)).exportGraph(graph, out)", told(graph, -1, false, true), out -> {
                var exporter = new DOTExporter<String, DefaultWeightedEdge>(v -> "\"" + v + "\"");
                exporter.setVertexAttributeProvider(age);
                exporter.exportGraph(graph, out);
            });
            put(by, which + ".json", "new JSONExporter<>(v -> v).exportGraph(graph, out)", told(graph, -1, false, true)
                .replaceFirst("^", graph == directed ? "" : says), out -> {
                var exporter = new JSONExporter<String, DefaultWeightedEdge>(name);
                exporter.setVertexAttributeProvider(age);
                exporter.exportGraph(graph, out);
            });
            put(by, which + "-list.csv", "new CSVExporter<>(v -> v, CSVFormat.EDGE_LIST, ';').exportGraph(graph, out)",
                says + plain.replace("v alone\n", ""), out ->
                new CSVExporter<String, DefaultWeightedEdge>(name, CSVFormat.EDGE_LIST, ';').exportGraph(graph, out));
            put(by, which + "-neighbours.csv", "new CSVExporter<>(v -> v, CSVFormat.ADJACENCY_LIST, ',').exportGraph(graph, out)",
                "refused: column\n", out ->
                new CSVExporter<String, DefaultWeightedEdge>(name, CSVFormat.ADJACENCY_LIST, ',').exportGraph(graph, out));
            put(by, which + "-matrix.csv", "new CSVExporter<>(v -> v, CSVFormat.MATRIX, ',').exportGraph(graph, out)",
                "refused: matrix\n", out -> {
                var exporter = new CSVExporter<String, DefaultWeightedEdge>(name, CSVFormat.MATRIX, ',');
                exporter.setParameter(CSVFormat.Parameter.MATRIX_FORMAT_NODEID, true);
                exporter.setParameter(CSVFormat.Parameter.MATRIX_FORMAT_ZERO_WHEN_NO_EDGE, true);
                exporter.exportGraph(graph, out);
            });
            for (DIMACSFormat format : DIMACSFormat.values()) {
                String form = format.name().toLowerCase().replace('_', '-');
                String meant = told(graph, 1, true, false);
                if (format == DIMACSFormat.SHORTEST_PATH && graph == undirected) continue;
                // The formats of cliques and colours are of undirected graphs.
                if (format != DIMACSFormat.SHORTEST_PATH && graph == directed) continue;
                put(by, which + "." + form + ".dimacs", "new DIMACSExporter<>(ids, DIMACSFormat." + format + ").exportGraph(graph, out)", meant, out -> {
                    var exporter = new DIMACSExporter<String, DefaultWeightedEdge>(new IntegerIdProvider<>(1), format);
                    exporter.setParameter(DIMACSExporter.Parameter.EXPORT_EDGE_WEIGHTS, true);
                    exporter.exportGraph(graph, out);
                });
            }
            put(by, which + ".lgf", "new LemonExporter<>(v -> v).exportGraph(graph, out)", "refused: column\n", out -> {
                var exporter = new LemonExporter<String, DefaultWeightedEdge>(name);
                exporter.setParameter(LemonExporter.Parameter.EXPORT_EDGE_WEIGHTS, true);
                exporter.exportGraph(graph, out);
            });
        }
        for (var format : Graph6Sparse6Exporter.Format.values()) {
            String ending = format == Graph6Sparse6Exporter.Format.GRAPH6 ? "g6" : "s6";
            put(by, "undirected." + ending, "new Graph6Sparse6Exporter<>(Format." + format + ").exportGraph(graph, out)",
                told(undirected, 0, false, false), out ->
                new Graph6Sparse6Exporter<String, DefaultWeightedEdge>(format).exportGraph(undirected, out));
        }
        put(by, "sparse-matrix.txt", "new MatrixExporter<>(Format.SPARSE_ADJACENCY_MATRIX).exportGraph(graph, out)",
            "with: undirected both-ends\n" + told(undirected, 1, true, false).replace("v 5\n", "").replaceAll("weight=.*", "weight=1"),
            out -> new MatrixExporter<String, DefaultWeightedEdge>(MatrixExporter.Format.SPARSE_ADJACENCY_MATRIX).exportGraph(undirected, out));
    }

    static void tinkerpop() throws Exception {
        String by = "tinkerpop 3.7.3";
        var graph = TinkerFactory.createModern();
        StringBuilder told = new StringBuilder("weight: weight\nmaybe: labelV labelE label\ndirected\n");
        graph.vertices().forEachRemaining(v -> {
            told.append("v " + v.id());
            v.properties().forEachRemaining(p -> told.append(" " + p.key() + "=" + (p.value() instanceof String ? "\"" + p.value() + "\"" : p.value())));
            told.append("\n");
        });
        graph.edges().forEachRemaining(e ->
            told.append("e " + e.outVertex().id() + " " + e.inVertex().id() + " weight=" + e.value("weight") + "\n"));
        put(by, "modern.graphml", "graph.io(IoCore.graphml()).writer().create().writeGraph(out, graph)", told.toString(), out ->
            graph.io(IoCore.graphml()).writer().create().writeGraph(out, graph));
        put(by, "modern.graphson.json", "graph.io(IoCore.graphson()).writer().create().writeGraph(out, graph)", "refused: JSON\n", out ->
            graph.io(IoCore.graphson()).writer().create().writeGraph(out, graph));
    }

    public static void main(String[] arguments) throws Exception {
        corpus = Path.of(arguments[0]);
        jgrapht();
        tinkerpop();
    }
}
