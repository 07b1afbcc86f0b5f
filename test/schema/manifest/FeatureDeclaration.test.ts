import { feature, manifest, userInput } from "./ManifestFixture.ts"
import { at, list, table, text, type Row } from "./RuleTable.ts"

const v = "svc.com/v2.3"
table("features", [
  [
    "32 of them",
    manifest(v, {
      inputs: list(32, (n) => `v${n}`).map((name) => userInput(name)),
      features: list(32, (n) => `${n}`).map((n) => feature(`f${n}`, [`v${n}`]))
    }),
    "valid"
  ],
  [
    "33 of them",
    manifest(v, {
      inputs: list(33, (n) => `v${n}`).map((name) => userInput(name)),
      features: list(33, (n) => `${n}`).map((n) => feature(`f${n}`, [`v${n}`]))
    }),
    `invalid_count ${at}/features`
  ],
  ...["a", "a9", "a.b_c-d", text(96)].map(
    (id): Row => [
      `id ${id.slice(0, 10)}`,
      manifest(v, { inputs: [userInput("a")], features: [feature(id, ["a"])] }),
      "valid"
    ]
  ),
  ...["A", "-a", "a-", ".", "a\n", "a b"].map(
    (id): Row => [
      `id ${JSON.stringify(id)}`,
      manifest(v, { inputs: [userInput("a")], features: [feature(id, ["a"])] }),
      `invalid_pattern ${at}/features/0/id`
    ]
  ),
  [
    "id of 97 characters",
    manifest(v, { inputs: [userInput("a")], features: [feature(text(97), ["a"])] }),
    `invalid_length ${at}/features/0/id`
  ],
  ["no inputs", manifest(v, { features: [feature("f", [])] }), `invalid_count ${at}/features/0/inputs`],
  [
    "an input twice",
    manifest(v, { inputs: [userInput("a")], features: [feature("f", ["a", "a"])] }),
    `not_unique ${at}/features/0/inputs`
  ],
  [
    "optional as a string (J14)",
    manifest(v, { inputs: [userInput("a")], features: [feature("f", ["a"], { optional: "no" })] }),
    `wrong_type ${at}/features/0/optional`
  ]
])
