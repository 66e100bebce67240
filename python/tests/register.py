"""Registers the package of the working tree, with its entry points, in the current environment without building a wheel."""

import pathlib
import sysconfig
import tomllib

root = pathlib.Path(__file__).parents[2]
project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
site = pathlib.Path(sysconfig.get_paths()["purelib"])
(site / "esker.pth").write_text(f"{root / 'python'}\n")
info = site / "esker-0.dist-info"
info.mkdir(exist_ok=True)
(info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 0\n")
groups = project["entry-points"].items()
lines = (f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items()) for group, entries in groups)
(info / "entry_points.txt").write_text("\n".join(lines))
