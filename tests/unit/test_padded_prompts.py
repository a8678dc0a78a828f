"""Prompts that generate is given without their mask (no proof: transformers is not among the test packages)."""

from __future__ import annotations

from pathlib import Path

from torchcaliper.source.checking import check_file
from torchcaliper.source.project import Project

BEGIN = """\
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

tok = AutoTokenizer.from_pretrained("gpt2", padding_side="left")
{padding}
model = AutoModelForCausalLM.from_pretrained("gpt2").to("cuda").eval()
enc = tok({texts}, return_tensors="pt", padding=True).to("cuda")
with torch.no_grad():
    out = model.generate({given}, max_new_tokens=5)
"""
SAME = "tok.pad_token = tok.eos_token"


def _codes(folder: Path, given: str, texts: str = '["a b c", "d"]', padding: str = SAME) -> set[tuple[str, int]]:
    file = folder / "write.py"
    file.write_text(BEGIN.format(given=given, texts=texts, padding=padding))
    return {
        (f.code, f.location.line)
        for f in check_file(file, file.read_bytes(), Project()).findings
        if f.location is not None
    }


def test_padded_prompts_without_mask(tmp_path: Path) -> None:
    assert ("M111", 9) in _codes(tmp_path, 'enc["input_ids"]')
    assert ("M111", 9) in _codes(tmp_path, "input_ids=enc.input_ids")


def test_sound_prompts(tmp_path: Path) -> None:
    assert not _codes(tmp_path, "**enc")
    assert not _codes(tmp_path, "enc.input_ids, attention_mask=enc.attention_mask")
    # One text has no padding; a padding token of its own tells where padding is.
    assert not _codes(tmp_path, "enc.input_ids", texts='"one text"')
    assert not _codes(tmp_path, "enc.input_ids", padding='tok.add_special_tokens({"pad_token": "[PAD]"})')
