"""Cuts botocore's data down to the services that are used: `python trim.py SITE_PACKAGES < services.txt`.

botocore describes 400 services in 23 MB; it reads the endpoints of all of them for its first client, and looks
through all of their folders for every client.
"""

import gzip
import json
import shutil
import sys
from pathlib import Path

EVERYTHING = "*"


def trim(packages: Path, services: set[str]) -> None:
    """Leave these services' data only. Raises SystemExit, naming them, where there are none of that name."""
    data = packages / "botocore" / "data"
    if unknown := sorted(name for name in services if not (data / name).is_dir()):
        sys.exit(f"services.txt: botocore knows no service {', '.join(unknown)}.")
    for folder in (data, packages / "boto3" / "data"):
        for path in folder.iterdir():
            if path.is_dir() and path.name not in services:
                shutil.rmtree(path)
    # There, a service goes by another name than its folder: "ses" is "email".
    models = (json.loads(gzip.decompress(path.read_bytes())) for path in data.glob("*/*/service-2.json.gz"))
    prefixes = {model["metadata"]["endpointPrefix"] for model in models}
    endpoints = json.loads((data / "endpoints.json").read_text(encoding="utf-8"))
    for partition in endpoints["partitions"]:
        partition["services"] = {name: each for name, each in partition["services"].items() if name in prefixes}
    (data / "endpoints.json").unlink()  # uv installs links to its cache: writing into the file would change that
    (data / "endpoints.json").write_text(json.dumps(endpoints, separators=(",", ":")), encoding="utf-8")


if __name__ == "__main__":
    wanted = {line.strip() for line in sys.stdin if line.strip()}
    if EVERYTHING not in wanted:
        trim(Path(sys.argv[1]), wanted)
