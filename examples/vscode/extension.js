// Starts wipagent's language server for WIP IDL documents.

"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function start() {
  const command = vscode.workspace.getConfiguration("wip").get("server.path") || "wipagent";
  const server = { command, args: ["idl", "lsp"] };
  client = new LanguageClient("wip", "WIP IDL", server, {
    documentSelector: [{ language: "wip" }], // those that are no files too
  });
  return client.start().catch((err) => {
    vscode.window.showErrorMessage(`WIP IDL: cannot start "${command} idl lsp": ${err.message ?? err}. Set wip.server.path.`);
  });
}

async function stop() {
  const running = client;
  client = undefined;
  await running?.stop().catch(() => {}); // one that never started cannot be stopped
}

async function restart() {
  await stop();
  await start();
}

exports.activate = async (context) => {
  context.subscriptions.push(
    vscode.commands.registerCommand("wip.restart", restart),
    vscode.workspace.onDidChangeConfiguration((event) => event.affectsConfiguration("wip.server.path") && restart()),
  );
  await start();
};

exports.deactivate = stop;
