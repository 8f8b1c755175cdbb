"""The published schema fits the files that are written, and little else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from goct.model import Model, model_schema
from goct.model.file import LATER_FIELDS
from tests.support.models import hostile_model, small_model

PUBLISHED = Path(__file__).parents[2] / "docs" / "reference" / "model.schema.json"


def test_the_published_schema_is_the_one_of_the_code() -> None:
    if not PUBLISHED.exists():
        pytest.skip("the documentation is not there")
    published = json.loads(PUBLISHED.read_text(encoding="utf-8"))
    assert published == json.loads(json.dumps(model_schema()))


def test_files_fit(tmp_path: Path) -> None:
    jsonschema: Any = pytest.importorskip("jsonschema")
    check = jsonschema.Draft202012Validator(model_schema())
    check.check_schema(model_schema())
    for model in (small_model(), hostile_model(), small_model((0, 1))):
        model.save(tmp_path / "model.json")
        data = json.loads((tmp_path / "model.json").read_text(encoding="utf-8"))
        check.validate(data)
        for name in data:
            if name not in (*LATER_FIELDS, "checksum"):
                assert not check.is_valid({key: data[key] for key in data if key != name})
        assert not check.is_valid({**data, "more": 1})
    check.validate(json.loads((Path(__file__).parent / "model-v1.json").read_text("utf-8")))
    assert Model.load(Path(__file__).parent / "model-v1.json") is not None
