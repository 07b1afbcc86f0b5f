import { label, manifest, userInput, type JsonObject } from "./ManifestFixture.ts"
import { at, table, text, type Row } from "./RuleTable.ts"

const v = "svc.com/v2.3"
const input = (more: JsonObject) => manifest(v, { inputs: [userInput("a", more)] })
const named = (name: string) => manifest(v, { inputs: [userInput(name)] })
const inputs = (count: number) => manifest(v, { inputs: Array.from({ length: count }, (_, at) => userInput(`v${at}`)) })

table("inputs", [
  ["0 of them", inputs(0), "valid"],
  ["128 of them", inputs(128), "valid"],
  ["129 of them", inputs(129), `invalid_count ${at}/inputs`],
  ["inputs are required", manifest(v, {}, { modules: { ".": {} } }), `missing_field ${at}/inputs`],
  ["name of 128 characters", named(text(128)), "valid"],
  ["name of 129 characters", named(text(129)), `invalid_length ${at}/inputs/0/name`],
  ["empty name", named(""), `invalid_length ${at}/inputs/0/name`],
  ["name with a leading underscore", named("_a9"), "valid"],
  ["name with a leading digit", named("9a"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with a dash", named("a-b"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with a line feed (J10)", named("abc\n"), `invalid_pattern ${at}/inputs/0/name`],
  ["name with outer white space (J9)", named(" a"), `invalid_pattern ${at}/inputs/0/name`],
  ["a prototype name (J4)", named("__proto__"), "valid"],
  [
    "no label",
    manifest(v, { inputs: [{ name: "a", source: { kind: "user" } }] }),
    `missing_field ${at}/inputs/0/label`
  ],
  ["no source", manifest(v, { inputs: [{ name: "a", label }] }), `missing_field ${at}/inputs/0/source`],
  ["unknown source kind", input({ source: { kind: "output" } }), `invalid_value ${at}/inputs/0/source/kind`],
  ["more in source", input({ source: { kind: "user", from: "x" } }), `unknown_field ${at}/inputs/0/source/from`],
  ["label without en", input({ label: { ja: "a" } }), `missing_field ${at}/inputs/0/label/en`],
  ["label as a string", input({ label: "a" }), `wrong_type ${at}/inputs/0/label`],
  ["label in a third language", input({ label: { ...label, fr: "a" } }), `unknown_field ${at}/inputs/0/label/fr`],
  ["label of 160 characters", input({ label: { ja: text(160), en: "a" } }), "valid"],
  ["label of 160 emoji, counted as characters (J8)", input({ label: { ja: "😀".repeat(160), en: "a" } }), "valid"],
  ["label of 161 characters", input({ label: { ja: text(161), en: "a" } }), `invalid_length ${at}/inputs/0/label/ja`],
  [
    "label of 161 emoji (J8)",
    input({ label: { ja: "😀".repeat(161), en: "a" } }),
    `invalid_length ${at}/inputs/0/label/ja`
  ],
  ["empty label", input({ label: { ja: "", en: "a" } }), `invalid_length ${at}/inputs/0/label/ja`],
  ["blank label", input({ label: { ja: "  ", en: "a" } }), `blank ${at}/inputs/0/label/ja`],
  ["label of invisible characters", input({ label: { ja: "\u200b\u2060", en: "a" } }), `blank ${at}/inputs/0/label/ja`],
  ...[" a", "a ", "a\n", "\u00a0a", "a\u3000", "\ufeffa"].map(
    (ja): Row => [
      `label ${JSON.stringify(ja)} (J9)`,
      input({ label: { ja, en: "a" } }),
      `not_canonical ${at}/inputs/0/label/ja`
    ]
  ),
  ["label with tab, line feed, carriage return inside", input({ label: { ja: "a\tb\nc\rd", en: "a" } }), "valid"],
  ...["a\u0000b", "a\u001b[2Jb", "a\u007fb", "a\u0085b", "a\u009bb", "a\u202eb", "a\u2066b"].map(
    (ja): Row => [
      `label ${JSON.stringify(ja)} (J8)`,
      input({ label: { ja, en: "a" } }),
      `control_character ${at}/inputs/0/label/ja`
    ]
  ),
  ["roles", input({ role: "service_name" }), "valid"],
  ["unknown role", input({ role: "admin" }), `invalid_value ${at}/inputs/0/role`],
  ...["string", "number", "boolean", "json"].map((type): Row => [`type ${type}`, input({ type }), "valid"]),
  ["unknown type", input({ type: "map" }), `invalid_value ${at}/inputs/0/type`],
  ["format of 64 characters", input({ format: text(64) }), "valid"],
  ["format of 65 characters", input({ format: text(65) }), `invalid_length ${at}/inputs/0/format`],
  ["format signs", input({ format: "a9._:/-" }), "valid"],
  ["format beginning with a sign", input({ format: "-a" }), `invalid_pattern ${at}/inputs/0/format`],
  ["required as a string (J14)", input({ required: "true" }), `wrong_type ${at}/inputs/0/required`],
  ["helper of 2,000 characters", input({ helper: { ja: text(2000), en: "a" } }), "valid"],
  [
    "helper of 2,001 characters",
    input({ helper: { ja: text(2001), en: "a" } }),
    `invalid_length ${at}/inputs/0/helper/ja`
  ],
  ["placeholder of 256 characters", input({ placeholder: text(256) }), "valid"],
  ["placeholder of 257 characters", input({ placeholder: text(257) }), `invalid_length ${at}/inputs/0/placeholder`],
  ["blank placeholder", input({ placeholder: " " }), `blank ${at}/inputs/0/placeholder`],
  ["advanced as a number (J14)", input({ advanced: 1 }), `wrong_type ${at}/inputs/0/advanced`],
  ["null for an optional field (J14)", input({ secret: null }), `wrong_type ${at}/inputs/0/secret`],
  ["an array for an object (J14)", manifest(v, { inputs: [[]] }), `wrong_type ${at}/inputs/0`]
])
