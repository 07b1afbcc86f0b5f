import { manifest, sourceBuild, type JsonObject } from "./ManifestFixture.ts"
import { at, list, table, text, type Row } from "./RuleTable.ts"

const v = "svc.com/v2.3"
const build = (more: JsonObject) => manifest(v, { sourceBuild: sourceBuild(more) })
const argv = (...parts: ReadonlyArray<string>) => build({ commands: [{ argv: parts }] })

const command = { argv: ["make"] }
table("sourceBuild", [
  ["8 commands", build({ commands: Array.from({ length: 8 }, () => command) }), "valid"],
  [
    "9 commands",
    build({ commands: Array.from({ length: 9 }, () => command) }),
    `invalid_count ${at}/sourceBuild/commands`
  ],
  ["0 commands", build({ commands: [] }), `invalid_count ${at}/sourceBuild/commands`],
  ["32 arguments", argv(...list(32, () => "a")), "valid"],
  ["33 arguments", argv(...list(33, () => "a")), `invalid_count ${at}/sourceBuild/commands/0/argv`],
  ["0 arguments", argv(), `invalid_count ${at}/sourceBuild/commands/0/argv`],
  ["an empty argument", argv("a", ""), `invalid_length ${at}/sourceBuild/commands/0/argv/1`],
  ["argument of 4,096 characters", argv(text(4096)), "valid"],
  ["argument of 4,097 characters", argv(text(4097)), `invalid_length ${at}/sourceBuild/commands/0/argv/0`],
  ["argument with NUL", argv("a\u0000b"), `control_character ${at}/sourceBuild/commands/0/argv/0`],
  [
    "a shell string for argv (J14)",
    build({ commands: [{ argv: "npm ci" }] }),
    `wrong_type ${at}/sourceBuild/commands/0/argv`
  ],
  ["env", build({ commands: [{ argv: ["a"], env: {} }] }), `unknown_field ${at}/sourceBuild/commands/0/env`],
  ["provider", build({ provider: "x" }), `unknown_field ${at}/sourceBuild/provider`],
  ["working directory .", build({ commands: [{ argv: ["a"], workingDirectory: "." }] }), "valid"],
  ...["../a", "/a", "a/", "a//b", "a\\b", " a"].map(
    (path): Row => [
      `working directory ${JSON.stringify(path)}`,
      build({ commands: [{ argv: ["a"], workingDirectory: path }] }),
      `invalid_path ${at}/sourceBuild/commands/0/workingDirectory`
    ]
  ),
  ["16 outputs", build({ outputs: list(16, (n) => `o${n}`) }), "valid"],
  ["17 outputs", build({ outputs: list(17, (n) => `o${n}`) }), `invalid_count ${at}/sourceBuild/outputs`],
  ["0 outputs", build({ outputs: [] }), `invalid_count ${at}/sourceBuild/outputs`],
  ...[".", "..", "../a", "/a", "a/", "a//b", "a/./b", "a\\b", "a "].map(
    (path): Row => [
      `output ${JSON.stringify(path)}`,
      build({ outputs: [path] }),
      `invalid_path ${at}/sourceBuild/outputs/0`
    ]
  )
])
