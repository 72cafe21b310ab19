"""Firefox by its own protocol (Marionette): JSON over a socket, each message after its length."""

import json
import shutil
import socket
import subprocess

from waiting import wait_until

FIREFOX = shutil.which("firefox-esr") or shutil.which("firefox")
LIMIT_S = 120


class Firefox:
    def __init__(self, profile):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        (profile / "user.js").write_text(f'user_pref("marionette.port", {self.port});\n'
                                         'user_pref("browser.shell.checkDefaultBrowser", false);\n'
                                         'user_pref("datareporting.policy.dataSubmissionEnabled", false);\n'
                                         'user_pref("network.captive-portal-service.enabled", false);\n'
                                         'user_pref("network.connectivity-service.enabled", false);\n'
                                         'user_pref("app.update.enabled", false);\n')
        self.process = subprocess.Popen([FIREFOX, "--headless", "--no-remote", "--marionette", "--profile", str(profile)],
                                        env={"HOME": str(profile), "PATH": "/usr/bin:/bin", "MOZ_DISABLE_CONTENT_SANDBOX": "1"},
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.socket = self._connected()
        self.number = 0
        self._receive()  # its greeting
        self.call("WebDriver:NewSession", {"capabilities": {"alwaysMatch": {"acceptInsecureCerts": True}}})
        self.call("WebDriver:SetTimeouts", {"script": LIMIT_S * 1000, "pageLoad": LIMIT_S * 1000})

    def _connected(self):
        def listening():
            assert self.process.poll() is None, "Firefox ended"
            try:
                return socket.create_connection(("127.0.0.1", self.port), timeout=LIMIT_S)
            except OSError:
                return None
        return wait_until(listening)

    def _receive(self):
        length = b""
        while (byte := self.socket.recv(1)) != b":":
            length += byte
        content = b""
        while len(content) < int(length):
            content += self.socket.recv(int(length) - len(content))
        return json.loads(content)

    def call(self, command, parameters):
        self.number += 1
        message = json.dumps([0, self.number, command, parameters])
        self.socket.sendall(f"{len(message.encode())}:{message}".encode())
        _, _, error, result = self._receive()
        assert error is None, error
        return result

    def open(self, file, width, height=900):
        self.call("WebDriver:SetWindowRect", {"width": width, "height": height})
        self.call("WebDriver:Navigate", {"url": file.as_uri()})

    def run(self, script, *arguments):
        """The value that an asynchronous script hands to `done`."""
        return self.call("WebDriver:ExecuteAsyncScript",
                         {"script": f"const done = arguments[arguments.length - 1]; {script}", "args": list(arguments)})["value"]

    def close(self):
        self.socket.close()
        self.process.terminate()
        self.process.wait()
