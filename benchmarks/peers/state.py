"""What has been measured so far, saved after every solver, so that an interrupted run goes on."""
import json
import os


class State:
    def __init__(self, file, setup, fresh=False):
        """`setup` is what times depend on; a state with another one is not used."""
        self.file, self.setup, self.data = file, setup, {"setup": setup, "problems": {}}
        file.parent.mkdir(parents=True, exist_ok=True)
        if file.exists() and not fresh:
            old = json.loads(file.read_text())
            if old.get("setup") == setup:
                self.data = old

    def problem(self, name):
        return self.data["problems"].setdefault(name, {})

    def problems(self):
        return self.data["problems"]

    def save(self):
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.data))
        os.replace(part, self.file)
