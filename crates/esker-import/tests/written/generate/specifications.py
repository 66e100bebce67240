"""Files of the corpus by the published specification, or the published head, of a program or data set that cannot be had here.
Values are made up: no row is copied.

    python specifications.py
"""

from told import Verbatim, path, tell

ALL = "property=all"


def put(name: str, by: str, text: str | bytes, edges: list | None = None, directed: bool = True, vertices: dict | None = None,
        **more: object) -> None:
    """`edges` are (source, target, properties); without them the file is refused."""
    file = path("specification", name)
    with open(file, "wb") as out:
        out.write(text if isinstance(text, bytes) else text.encode())
    settings = more.pop("settings", None)
    if settings:
        more["with"] = settings
    graph = None if edges is None else (directed, vertices or {}, edges)
    tell(file, f"specification of {by}", "written by hand", graph, **more)


def table(names: list, rows: list, separator: str = ",", ends: tuple = (0, 1)) -> tuple:
    """A text table and its edges; a value of a row is its text, or (text, meaning)."""
    text = lambda cell: cell[0] if isinstance(cell, tuple) else str(cell)
    meant = lambda cell: cell[1] if isinstance(cell, tuple) else cell
    lines = [separator.join(names)] if names else []
    lines += [separator.join(map(text, row)) for row in rows]
    called = names or [f"column{at + 1}" for at in range(len(rows[0]))]
    rest = [at for at in range(len(called)) if at not in ends]
    edges = [(text(row[ends[0]]), text(row[ends[1]]), {called[at]: meant(row[at]) for at in rest}) for row in rows]
    return "\n".join(lines) + "\n", edges


def time(text: str) -> tuple:
    return text, Verbatim(text.replace(" ", "T"))


def logs() -> None:
    names = ["ts", "uid", "id.orig_h", "id.orig_p", "id.resp_h", "id.resp_p", "proto", "orig_bytes", "conn_state"]
    rows = [(1709283600.125, "CHhAvVGS", "10.0.0.5", 51320, "10.0.0.1", 53, "udp", 40, "SF"),
            (1709283601.5, "C4J4Th3P", "10.0.0.5", 51321, "192.0.2.7", 443, "tcp", 1200, "S0"),
            (1709283602.75, "CtPZjS20", "fe80::1", 5353, "ff02::fb", 5353, "udp", 0, "S0")]
    body, edges = table([], rows, "\t", (2, 4))
    edges = [(u, v, dict(zip([n for n in names if n not in ("id.orig_h", "id.resp_h")], d.values()))) for u, v, d in edges]
    head = ("#separator \\x09\n#set_separator\t,\n#empty_field\t(empty)\n#unset_field\t-\n#path\tconn\n#open\t2024-03-01-09-00-00\n"
            "#fields\t" + "\t".join(names) + "\n#types\ttime\tstring\taddr\tport\taddr\tport\tenum\tcount\tstring\n")
    put("zeek-conn.log", "Zeek 6: conn.log", head + body + "#close\t2024-03-01-10-00-00\n", edges, settings=ALL)
    body = body.replace("\t0\tS0", "\t-\tS0")
    unset = [(u, v, {**d, "orig_bytes": d["orig_bytes"] or None}) for u, v, d in edges]
    put("zeek-unset.log", "Zeek 6: conn.log", head + body, unset, settings=ALL)
    put("zeek-json.log", "Zeek 6: conn.log in JSON", '{"ts":1.5,"id.orig_h":"10.0.0.5","id.resp_h":"10.0.0.1"}\n' * 2,
        refused=["JSON", "jq"])
    put("eve.json", "Suricata 7: eve.json", '{"timestamp":"2024-03-01T09:00:00.0+0000","src_ip":"10.0.0.5","dest_ip":"10.0.0.1",'
        '"alert":{"severity":1}}\n' * 2, refused=["JSON", "jq"])
    put("access.log", "Apache httpd 2.4: combined log",
        '192.0.2.1 - - [01/Mar/2024:09:00:00 +0000] "GET /a HTTP/1.1" 200 512 "https://example.org/" "curl/8"\n'
        '192.0.2.9 - ann [01/Mar/2024:09:00:01 +0000] "GET /b HTTP/1.1" 404 - "-" "curl/8"\n', refused=["cannot tell"])
    put("syslog.txt", "RFC 3164: syslog", "Mar  1 09:00:00 host sshd[12]: Accepted key for ann from 192.0.2.1 port 4242\n"
        "Mar  1 09:00:01 host sshd[13]: Accepted key for bob from 192.0.2.2 port 4243\n", refused=["column"])
    names = "version account-id interface-id srcaddr dstaddr srcport dstport protocol packets bytes start end action log-status".split()
    rows = [(2, 123456789012, "eni-1a", "10.0.1.5", "10.0.2.9", 443, 49152, 6, 10, 5000, 1709283600, 1709283660, "ACCEPT", "OK"),
            (2, 123456789012, "eni-1b", "10.0.2.9", "10.0.1.5", 49152, 443, 6, 8, 900, 1709283601, 1709283659, "REJECT", "OK"),
            (2, 123456789012, "eni-1a", "10.0.1.5", "10.0.2.7", 53, 49153, 17, 1, 80, 1709283602, 1709283602, "ACCEPT", "OK")]
    text, edges = table(names, rows, " ", (3, 4))
    put("vpc-flow.log", "Amazon VPC flow logs, version 2", text, edges, settings=ALL)
    names = "ts,te,td,sa,da,sp,dp,pr,flg,ipkt,ibyt".split(",")
    rows = [(time("2024-03-01 09:00:00"), time("2024-03-01 09:00:02"), 2.5, "10.0.0.5", "10.0.0.1", 51320, 53, "UDP", "........", 1, 40),
            (time("2024-03-01 09:00:01"), time("2024-03-01 09:00:01"), 0.25, "10.0.0.1", "10.0.0.7", 22, 51999, "TCP", ".AP.SF", 9, 900)]
    text, edges = table(names, rows, ",", (3, 4))
    put("nfdump.csv", "nfdump 1.6: -o csv", text, edges, settings=ALL)
    names = ["Flow ID", " Source IP", " Source Port", " Destination IP", " Destination Port", " Protocol", " Label"]
    rows = [("10.0.0.1-10.0.0.5-1", "10.0.0.5", 51320, "10.0.0.1", 53, 17, "BENIGN"),
            ("10.0.0.1-10.0.0.6-2", "10.0.0.6", 51321, "10.0.0.1", 80, 6, "DDoS")]
    text, edges = table(names, rows, ",", (1, 3))
    edges = [(u, v, {name.strip(): of for name, of in d.items()}) for u, v, d in edges]
    put("cicflowmeter.csv", "CICFlowMeter: CIC-IDS2017", text, edges, settings=ALL)


def money() -> None:
    names = ["step", "type", "amount", "nameOrig", "oldbalanceOrg", "newbalanceOrig", "nameDest", "isFraud"]
    rows = [(1, "PAYMENT", 9839.64, "C1231006815", 170136.0, 160296.36, "M1979787155", 0),
            (1, "TRANSFER", 181.5, "C1305486145", 181.0, 0.5, "C553264065", 1), (2, "CASH_OUT", 181, "C840083671", 181, 0, "C38997010", 1)]
    text, edges = table(names, rows, ",", (3, 6))
    put("paysim.csv", "PaySim (data set)", text, edges, settings=ALL)
    names = ["Timestamp", "From Bank", "Account", "To Bank", "Account", "Amount Received", "Receiving Currency", "Is Laundering"]
    rows = [("2022/09/01 00:20", "010", "8000EBD30", "010", "8000EBD30", 3697.34, "US Dollar", 0),
            ("2022/09/01 00:26", "03208", "8000F4580", "001", "8000F5340", 0.01, "US Dollar", 0),
            ("2022/09/01 00:02", "001", "8000F5340", "03208", "8000F4580", 14675.57, "Euro", 1)]
    text, _ = table(names, rows, ",", (2, 4))
    put("aml.csv", "IBM transactions for anti money laundering (data set)", text,
        [(row[2], row[4], {"Amount Received": row[5]}) for row in rows], refused=["cannot tell", "3", "5"],
        settings='src=3 dst=5 "property=Amount Received"')
    names = ['"Auftragskonto"', '"Buchungstag"', '"Verwendungszweck"', '"Beguenstigter/Zahlungspflichtiger"', '"Kontonummer/IBAN"',
             '"Betrag"', '"Waehrung"']
    rows = [("DE02120300000000202051", "01.03.24", "Miete März", "Haus GmbH", "DE02500105170137075030", "-750,00", "EUR"),
            ("DE02120300000000202051", "04.03.24", "Gehalt", "Firma AG", "DE02300209000106531065", "2.815,40", "EUR")]
    text = ";".join(names) + "\r\n" + "".join(";".join(f'"{of}"' for of in row) + "\r\n" for row in rows)
    put("sparkasse.csv", "Sparkasse: CSV-CAMT", text.encode("latin-1"), [(row[0], row[4]) for row in rows],
        refused=["cannot tell"], settings='src=Auftragskonto dst=Kontonummer/IBAN')
    put("sepa.csv", "a bank's export with a head and a foot",
        "Account statement\nIBAN;DE02120300000000202051\n\nDate;Payer;Payee;Amount\n2024-03-01;ann;bob;12.50\n2024-03-02;bob;cleo;3.00\n"
        "\nBalance;;;15.50\n", refused=["column"])
    names = ["txId1", "txId2"]
    text, edges = table(names, [(230425980, 5530458), (232022460, 232438397), (5530458, 230425980)])
    put("elliptic-edges.csv", "Elliptic (data set): edge list", text, edges)
    text, edges = table([], [(6, 2, 4, 1289241911.72836), (6, 5, 2, 1289241941.53378), (2, 6, -10, 1289243140.39049)])
    put("bitcoin-otc.csv", "SNAP: soc-sign-bitcoinotc", text, edges, settings=ALL)
    names = ["transaction_hash", "from_address", "to_address", "value", "block_timestamp"]
    rows = [("0x01", "0xa1", "0xb2", 1000000000000000000, ("2024-03-01 09:00:00 UTC",) * 2),
            ("0x02", "0xb2", "0xc3", 5, ("2024-03-01 09:00:12 UTC",) * 2), ("0x03", "0xc3", "0xa1", 0, ("2024-03-01 09:00:24 UTC",) * 2)]
    text, edges = table(names, rows, ",", (1, 2))
    put("ethereum.csv", "ethereum-etl: transactions.csv", text, edges, settings=ALL)


def published() -> None:
    """Heads of well-known data sets."""
    put("snap.txt", "SNAP: web graphs", "# Directed graph (each unordered pair of nodes is saved once): web.txt\n# Nodes: 4 Edges: 3\n"
        "# FromNodeId\tToNodeId\n0\t11342\n0\t824020\n11342\t0\n", [(0, 11342), (0, 824020), (11342, 0)])
    put("sx.txt", "SNAP: temporal networks", "9 8 1217567877\n1 1 1217573801\n13 1 1217606247\n9 8 1217617639\n",
        [(9, 8, {"weight": 1217567877}), (1, 1, {"weight": 1217573801}), (13, 1, {"weight": 1217606247}), (9, 8, {"weight": 1217617639})])
    put("konect.out", "KONECT: out.*", "% sym weighted\n% 3 4 4\n1 2 0.5 1082040961\n2 3 1 1082155839\n1 4 2 1082414391\n",
        [(1, 2, {"column3": 0.5, "column4": 1082040961}), (2, 3, {"column3": 1, "column4": 1082155839}),
         (1, 4, {"column3": 2, "column4": 1082414391})], False, settings="undirected property=all")
    put("string.txt", "STRING 12: protein links", "protein1 protein2 combined_score\n9606.ENSP0 9606.ENSP1 173\n9606.ENSP0 9606.ENSP2 154\n"
        "9606.ENSP1 9606.ENSP2 151\n", [(f"9606.ENSP{u}", f"9606.ENSP{v}", {"combined_score": w})
                                        for u, v, w in [(0, 1, 173), (0, 2, 154), (1, 2, 151)]], settings=ALL)
    put("biogrid.tab", "BioGRID: tab 3", "#BioGRID Interaction ID\tEntrez Gene Interactor A\tEntrez Gene Interactor B\tOfficial Symbol "
        "Interactor A\tOfficial Symbol Interactor B\tThroughput\n103\t6416\t2318\tMAP2K4\tFLNC\tLow Throughput\n"
        "117\t84665\t88\tMYPN\tACTN2\tLow Throughput\n183\t90\t2339\tACVR1\tFNTA\tHigh Throughput\n",
        [("MAP2K4", "FLNC"), ("MYPN", "ACTN2"), ("ACVR1", "FNTA")], refused=["cannot tell"], settings="header src=4 dst=5")
    put("mitab.txt", "PSI-MI TAB 2.5", "#ID(s) interactor A\tID(s) interactor B\tInteraction detection method(s)\n"
        'uniprotkb:P49418\tuniprotkb:O43426\tpsi-mi:"MI:0084"(phage display)\nuniprotkb:P49418\tintact:EBI-7121639\t'
        'psi-mi:"MI:0096"(pull down)\n', [("uniprotkb:P49418", "uniprotkb:O43426"), ("uniprotkb:P49418", "intact:EBI-7121639")],
        refused=["first line", "header"], settings="header src=1 dst=2")
    put("clickstream.tsv", "Wikipedia clickstream", 'prev\tcurr\ttype\tn\nother-search\tEsker\texternal\t120\nGlacier\tEsker\tlink\t15\n'
        'Esker\tKame\tlink\t11\n', [("other-search", "Esker", {"type": "external", "n": 120}), ("Glacier", "Esker", {"type": "link", "n": 15}),
                                      ("Esker", "Kame", {"type": "link", "n": 11})], settings=ALL)
    put("routes.dat", "OpenFlights: routes.dat", "2B,410,AER,2965,KZN,2990,,0,CR2\n2B,410,ASF,2966,KZN,2990,,0,CR2\nZL,4178,WYA,6334,ADL,"
        "\\N,,0,SF3\n", [("AER", "KZN"), ("ASF", "KZN"), ("WYA", "ADL")], refused=["cannot tell"], settings="no-header src=3 dst=5")
    put("imdb.tsv", "IMDb: title.principals.tsv", "tconst\tordering\tnconst\tcategory\tjob\ntt0000001\t1\tnm1588970\tself\t\\N\n"
        "tt0000001\t2\tnm0005690\tdirector\t\\N\ntt0000002\t1\tnm0721526\tdirector\tproducer\n", refused=["cannot tell"],
        settings="src=tconst dst=nconst", edges=[("tt0000001", "nm1588970"), ("tt0000001", "nm0005690"), ("tt0000002", "nm0721526")])
    put("crates.csv", "crates.io: dependencies.csv", "crate_id,default_features,features,id,kind,optional,req,version_id\n"
        "77,t,{},1,0,f,^1.0,904\n1339,t,{std},2,0,f,^0.2,77\n77,f,{},3,1,t,*,1339\n", refused=["cannot tell"],
        settings="src=version_id dst=crate_id", edges=[(904, 77), (77, 1339), (1339, 77)])
    put("gtfs.txt", "GTFS: transfers.txt", "from_stop_id,to_stop_id,transfer_type,min_transfer_time\nS6,S7,2,300\nS7,S6,3,0\nS23,S7,1,60\n",
        [("S6", "S7", {"transfer_type": 2, "min_transfer_time": 300}), ("S7", "S6", {"transfer_type": 3, "min_transfer_time": 0}),
         ("S23", "S7", {"transfer_type": 1, "min_transfer_time": 60})], settings=ALL)
    put("enron.csv", "mail index", 'Message-ID,Date,From,To,Subject\n1@x,2001-05-14,ann@enron.com,bob@enron.com,"Re: forecast, May"\n'
        '2@x,2001-05-15,bob@enron.com,cleo@enron.com,lunch\n3@x,2001-05-16,cleo@enron.com,ann@enron.com,\n',
        [("ann@enron.com", "bob@enron.com", {"Date": Verbatim("2001-05-14"), "Subject": "Re: forecast, May", "Message-ID": "1@x"}),
         ("bob@enron.com", "cleo@enron.com", {"Date": Verbatim("2001-05-15"), "Subject": "lunch", "Message-ID": "2@x"}),
         ("cleo@enron.com", "ann@enron.com", {"Date": Verbatim("2001-05-16"), "Subject": "", "Message-ID": "3@x"})], maybe=["Subject"],
        settings=ALL)


def formats() -> None:
    """Formats of other programs."""
    put("gephi-edges.csv", "Gephi 0.10: data laboratory", "Source,Target,Type,Id,Label,timeset,Weight\nann,bob,Undirected,0,,,1.0\n"
        "bob,cleo,Undirected,1,friends,,2.5\n", [("ann", "bob", {"Weight": 1, "Id": 0, "Label": "", "timeset": ""}),
                                                 ("bob", "cleo", {"Weight": 2.5, "Id": 1, "Label": "friends", "timeset": ""})],
        False, maybe=["Label", "timeset", "Id", "Type"], settings=ALL, weight="Weight")
    put("gephi-mixed.csv", "Gephi 0.10: data laboratory", "Source;Target;Type;Weight\n1;2;Directed;1\n2;3;Undirected;2\n",
        [(1, 2, {"Weight": 1}), (2, 3, {"Weight": 2}), (3, 2, {"Weight": 2})], refused=["some edges are directed"], settings="directed")
    put("edges.gdf", "GUESS: GDF", "nodedef>name VARCHAR,label VARCHAR\ns1,Site 1\ns2,Site 2\nedgedef>node1 VARCHAR,node2 VARCHAR,weight DOUBLE\n"
        "s1,s2,1.2\n", refused=["GDF"])
    put("yed.tgf", "yEd: trivial graph format", "1 January\n2 March\n3 April\n#\n1 2 early\n3 2\n", refused=["TGF"])
    put("tulip.tlp", "Tulip 5: TLP", '(tlp "2.3"\n(nb_nodes 3)\n(nodes 0..2)\n(edge 0 0 1)\n(edge 1 1 2)\n)\n', refused=["TLP"])
    put("ucinet.dl", "UCINET: DL", "dl n = 3 format = edgelist1\nlabels:\nann,bob,cleo\ndata:\n1 2 5\n2 3 1\n", refused=["DL"])
    put("edges.vna", "NetDraw: VNA", "*Node data\nID name\nj1 joe\n*Tie data\nFROM TO friends\nj1 j2 1\n", refused=["VNA"])
    put("triples.nt", "W3C: N-Triples", '<http://x/ann> <http://x/knows> <http://x/bob> .\n<http://x/bob> <http://x/name> "Bob" .\n',
        refused=["RDF"])
    put("triples.ttl", "W3C: Turtle", "@prefix : <http://x/> .\n:ann :knows :bob .\n:bob :knows :cleo .\n", refused=["RDF"])
    put("network.sif", "Cytoscape 3: SIF", "ann\tpp\tbob\nbob\tpp\tcleo\ncleo\tpd\tann\n", [("ann", "bob"), ("bob", "cleo"), ("cleo", "ann")],
        maybe=["interaction"])
    put("calls.rsf", "Rigi: RSF", "call main parse\ncall parse read\ncall main write\n", [("main", "parse"), ("parse", "read"), ("main", "write")])
    put("neo4j.csv", "Neo4j 5: import header", ":START_ID,since:int,:END_ID,:TYPE\nann,2001,bob,KNOWS\nbob,2010,cleo,LIKES\n",
        [("ann", "bob", {"since": 2001, ":TYPE": "KNOWS"}), ("bob", "cleo", {"since": 2010, ":TYPE": "LIKES"})], settings=ALL,
        maybe=[":TYPE", "TYPE", "since:int", "since"])
    put("ldbc.csv", "LDBC SNB: person_knows_person", "Person.id|Person.id|creationDate\n933|2199023256077|2010-04-17T14:53:23.041+0000\n"
        "933|8796093022220|2010-08-03T05:02:12.662+0000\n2199023256077|8796093022220|2012-05-01T00:00:00.000+0000\n",
        [(933, 2199023256077), (933, 8796093022220), (2199023256077, 8796093022220)])
    put("dolphins.mtx", "Network Repository: .mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n%-----\n4 4 3\n2 1\n4 1\n3 3\n",
        [(2, 1), (4, 1), (3, 3)], False)
    put("dense.mtx", "Matrix Market: array", "%%MatrixMarket matrix array real general\n2 2\n1\n0\n0.5\n2\n", refused=["array"])
    put("skew.mtx", "Matrix Market: skew-symmetric", "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 2\n2 1 5\n3 1 -2\n",
        [(2, 1, {"weight": 5}), (1, 2, {"weight": -5}), (3, 1, {"weight": -2}), (1, 3, {"weight": 2})])
    put("loop.graph", "METIS 5: graph file", "% no loops\n3 2 001\n2 7 3 4\n1 7\n1 4\n", [(1, 2, {"weight": 7}), (1, 3, {"weight": 4})], False)
    put("usa.gr", "DIMACS 9: shortest paths", "c 3 nodes\np sp 3 3\na 1 2 5\na 2 3 1\na 3 1 2\n",
        [(1, 2, {"weight": 5}), (2, 3, {"weight": 1}), (3, 1, {"weight": 2})])
    put("spreadsheet.slk", "Multiplan: SYLK", "ID;PWXL;N;E\nC;X1;Y1;K\"source\"\nC;X2;K\"target\"\nC;X1;Y2;K1\nC;X2;K2\nE\n", refused=["column"])
    put("table.tex", "LaTeX: tabular", "\\begin{tabular}{ll}\nsource & target \\\\\nann & bob \\\\\nbob & cleo \\\\\n\\end{tabular}\n",
        refused=["column"])
    put("table.rst", "reStructuredText: simple table", "======  ======\nsource  target\n======  ======\nann     bob\nbob     cleo\n======  ======\n",
        refused=["dashes"])
    put("mysql.txt", "MySQL 8: table", "+--------+--------+\n| source | target |\n+--------+--------+\n| ann    | bob    |\n+--------+--------+\n",
        refused=["dashes"])
    put("mysql.tsv", "MySQL 8: --batch", "source\ttarget\tnote\nann\tbob\tNULL\nbob\tcleo\tone\\ttab\n",
        [("ann", "bob", {"note": "NULL"}), ("bob", "cleo", {"note": "one\\ttab"})], maybe=["note"], settings=ALL)
    put("copy.txt", "PostgreSQL 15: COPY", "1\t2\t\\N\n2\t3\t0.5\n3\t1\t4\n", [(1, 2), (2, 3, {"weight": 0.5}), (3, 1, {"weight": 4})])


if __name__ == "__main__":
    logs()
    money()
    published()
    formats()
