"""Asks `esker mcp` by the client of the protocol's authors, and compares its answers with those of the command."""

import argparse
import asyncio
import json
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client

EDGES = "source,target,amount\nann,bob,5\nann,eve,7\nbob,eve,1\neve,ann,2\neve,dan,3\n"


async def answer(session: ClientSession, tool: str, **arguments: Any) -> Any:
    result = await session.call_tool(tool, arguments)
    assert not result.is_error, result
    return json.loads(result.content[0].text)


async def talk(esker: str, database: Path) -> None:
    def command(*words: str) -> Any:
        return json.loads(subprocess.run([esker, *words, "--json"], check=True, capture_output=True).stdout)

    async with stdio_client(StdioServerParameters(command=esker, args=["mcp", str(database)])) as streams:
        async with ClientSession(*streams) as session:
            hello = await session.initialize()
            assert hello.server_info.name == "esker" and "describe" in hello.instructions, hello
            tools = {tool.name: tool for tool in (await session.list_tools()).tools}
            assert {"describe", "search", "neighbors", "path", "subgraph", "run", "diff"} <= tools.keys(), tools
            assert all(tool.description and tool.input_schema["type"] == "object" for tool in tools.values())
            assert tools["neighbors"].input_schema["required"] == ["id"]

            described = await answer(session, "describe")
            info = command("info", str(database))
            assert (described["vertices"], described["edges"]) == (info["vertices"], info["edges"])
            path = await answer(session, "path", **{"from": "ann", "to": "dan", "weight": "amount"})
            assert path["vertices"] == ["ann", "bob", "eve", "dan"], path
            ranked = await answer(session, "run", algorithm="pagerank", top=2)
            top = command("run", "pagerank", str(database), "--top", "2")["top"]
            assert [row["id"] for row in ranked["rows"]] == [row["vertex"] for row in top], (ranked, top)
            assert ranked["note"].startswith("2 of 4 shown"), ranked

            refused = await session.call_tool("vertex", {"id": "nobody"})
            assert refused.is_error and "nobody" in refused.content[0].text, refused


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--esker", required=True)
    esker = str(Path(parser.parse_args().esker).resolve())
    with tempfile.TemporaryDirectory() as directory:
        edges, database = Path(directory) / "g.csv", Path(directory) / "g.esker"
        edges.write_text(EDGES)
        subprocess.run([esker, "--quiet", "import", str(edges), str(database), "--property", "amount"], check=True)
        asyncio.run(asyncio.wait_for(talk(esker, database), 120))
    print("esker mcp answers its client")


if __name__ == "__main__":
    main()
