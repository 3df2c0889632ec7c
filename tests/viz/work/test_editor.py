"""Files that are opened in the editor, and those that never are."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from flask.testing import FlaskClient

import viz.server.editor
from core.errors import ServerError


def test_editors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.server.editor.shutil, "which", lambda name: "/usr/bin/" + name)
    monkeypatch.setenv("EDITOR", "code --wait")
    monkeypatch.delenv("UOPVIZ_EDITOR", raising=False)
    assert viz.server.editor.editor_command("/a b.py", 7) == ["code", "--wait", "-g", "/a b.py:7"]
    monkeypatch.setenv("UOPVIZ_EDITOR", "mine")
    assert viz.server.editor.editor_command("/a.py", 7) == ["mine", "/a.py"]
    monkeypatch.delenv("UOPVIZ_EDITOR")
    monkeypatch.setenv("EDITOR", "vi")
    with pytest.raises(ServerError, match="no editor"):
        viz.server.editor.editor_command("/a.py", 7)


def test_a_file_name_is_no_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(viz.server.editor.shutil, "which", lambda name: "/usr/bin/" + name)
    for template, filled in (
        ("code -g {file}:{line}", ["code", "-g", "/a{line}b{file}.py:7"]),
        ("gvim +{line} {file}", ["gvim", "+7", "/a{line}b{file}.py"]),
        ("ed {other} {file}", ["ed", "{other}", "/a{line}b{file}.py"]),
    ):
        monkeypatch.setenv("UOPVIZ_EDITOR", template)
        assert viz.server.editor.editor_command("/a{line}b{file}.py", 7) == filled


def test_only_files_of_the_trace_are_opened(
    client: FlaskClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[list[str]] = []
    monkeypatch.setattr(viz.server.editor.subprocess, "Popen", lambda c, **_: opened.append(c))
    monkeypatch.setenv("UOPVIZ_EDITOR", "python3 -g {file}:{line}")
    for file in ("/etc/passwd", "../x", "", "nonsense.py"):
        answer = client.post("/api/A/open", json={"file": file, "line": 3})
        assert answer.status_code == 400
    client.get("/api/A/rules")
    answer = client.post("/api/A/open", json={"file": "tests/viz/samples.py", "line": 3})
    assert answer.status_code == 200
    (command,) = opened
    assert command[:2] == ["python3", "-g"]
    assert command[2].endswith("/tests/viz/samples.py:3")


def test_a_trace_cannot_have_any_file_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(viz.server.editor.subprocess, "Popen", lambda c, **_: opened.append(c[-1]))
    monkeypatch.setenv("UOPVIZ_EDITOR", "python3 {file}")
    monkeypatch.chdir(tmp_path)
    good, key = tmp_path / "good.py", tmp_path / "id_rsa"
    for path in (good, key, tmp_path / "a.code-workspace", tmp_path / "new\nline.py"):
        path.write_text("")
    (tmp_path / "disguised.py").symlink_to(key)
    (tmp_path / "link.py").symlink_to(good)
    (tmp_path / "circle.py").symlink_to(tmp_path / "circle.py")
    (tmp_path / "folder.py").mkdir()
    os.mkfifo(tmp_path / "pipe.py")
    refused = (
        *("id_rsa", "a.code-workspace", "new\nline.py", "disguised.py", "circle.py", "folder.py"),
        *("pipe.py", "missing.py", "zero\0.py", "x" * 5000 + ".py"),
    )
    for path in (*(f"{tmp_path}/{name}" for name in refused), "good.py", "", "/dev/null", "/"):
        with pytest.raises(ServerError):
            viz.server.editor.open_in_editor(path, 1)
    viz.server.editor.open_in_editor(str(good), 1)
    viz.server.editor.open_in_editor(f"{tmp_path}/folder.py/../link.py", 1)
    assert opened == [str(good.resolve())] * 2
