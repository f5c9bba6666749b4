"""The bill of materials: valid CycloneDX of exactly what memosite needs to run."""

import json
import subprocess
import sys
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.support.files import ROOT
from tests.support.locks import PROJECT, RUN, pins


def test_the_bill_of_materials_lists_all_that_runs(tmp_path: Path) -> None:
    """In valid CycloneDX: each package of the lock file that is needed here, with version and licence, and no other."""
    from cyclonedx.schema import SchemaVersion
    from cyclonedx.validation.json import JsonStrictValidator

    bill = tmp_path / "new/bill.cdx.json"
    subprocess.run([sys.executable, ROOT / "scripts/bill-of-materials", bill], check=True, timeout=300)
    text = bill.read_text(encoding="utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    found = json.loads(text)
    versions = {canonicalize_name(one["name"]): one["version"] for one in found["components"]}
    locked = {canonicalize_name(pin.requirement.name): pin.version for pin in pins(RUN)}
    assert versions.items() <= locked.items()
    assert {canonicalize_name(Requirement(one).name) for one in PROJECT["project"]["dependencies"]} <= set(versions)
    assert {"anyio", "markupsafe", "tornado"} <= set(versions)
    assert not {"hatchling", "pytest", "cyclonedx-bom"} & set(versions)
    assert [one["name"] for one in found["components"] if not one.get("licenses")] == []
    assert all(one["purl"].startswith("pkg:pypi/") for one in found["components"])
    assert (found["metadata"]["component"]["name"], found["metadata"]["component"]["version"]) == ("memosite", "0.1.0")
    roots = {edge["ref"]: edge.get("dependsOn", []) for edge in found["dependencies"]}
    assert any(ref.startswith("lxml==") for ref in roots[found["metadata"]["component"]["bom-ref"]])
    assert str(ROOT) not in text
