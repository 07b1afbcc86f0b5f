import { bindingRequest, iface, interfaceSpec, manifest, type JsonObject } from "./ManifestFixture.ts"
import { at, list, table, text, type Row } from "./RuleTable.ts"

const v = "svc.com/v2.3"
const interfaces = (...declarations: ReadonlyArray<JsonObject>) => manifest(v, { interfaces: declarations })
const spec = (more: JsonObject) => interfaces(iface({ spec: interfaceSpec(more) }))
const request = (more: JsonObject) => interfaces(iface({ bindingRequests: [bindingRequest(more)] }))

const deep = (depth: number) => JSON.parse("[".repeat(depth) + "]".repeat(depth))
table("interfaces", [
  ["32 of them", interfaces(...list(32, (n) => `k${n}`).map((key) => iface({ key, name: key }))), "valid"],
  [
    "33 of them",
    interfaces(...list(33, (n) => `k${n}`).map((key) => iface({ key, name: key }))),
    `invalid_count ${at}/interfaces`
  ],
  ["key of 128 characters", interfaces(iface({ key: text(128) })), "valid"],
  ["key of 129 characters", interfaces(iface({ key: text(129) })), `invalid_length ${at}/interfaces/0/key`],
  ["key beginning with a sign", interfaces(iface({ key: "/a" })), `invalid_pattern ${at}/interfaces/0/key`],
  ["name of 128 characters", interfaces(iface({ name: text(128) })), "valid"],
  ["name of 129 characters", interfaces(iface({ name: text(129) })), `invalid_length ${at}/interfaces/0/name`],
  ["name beginning with a digit", interfaces(iface({ name: "9a" })), `invalid_pattern ${at}/interfaces/0/name`],
  ["type of 256 characters", spec({ type: text(256) }), "valid"],
  ["type of 257 characters", spec({ type: text(257) }), `invalid_length ${at}/interfaces/0/spec/type`],
  ["version beginning with a sign", spec({ version: "~1" }), `invalid_pattern ${at}/interfaces/0/spec/version`],
  ["document null", spec({ document: null }), "valid"],
  [
    "no document",
    interfaces(iface({ spec: { type: "a", version: "1", access: { visibility: "workspace" } } })),
    `missing_field ${at}/interfaces/0/spec/document`
  ],
  ["document 32 deep", spec({ document: deep(32) }), "valid"],
  ["document 33 deep", spec({ document: deep(33) }), `value_too_deep ${at}/interfaces/0/spec/document`],
  ["literal 32 deep", spec({ inputs: { a: { source: "literal", value: deep(32) } } }), "valid"],
  ["literal 33 deep", spec({ inputs: { a: { source: "literal", value: deep(33) } } }), `json_too_deep `],
  [
    "64 inputs",
    spec({
      inputs: Object.fromEntries(list(64, (n) => `i${n}`).map((name) => [name, { source: "literal", value: 1 }]))
    }),
    "valid"
  ],
  [
    "65 inputs",
    spec({
      inputs: Object.fromEntries(list(65, (n) => `i${n}`).map((name) => [name, { source: "literal", value: 1 }]))
    }),
    `invalid_count ${at}/interfaces/0/spec/inputs`
  ],
  [
    "input name beginning with a digit",
    spec({ inputs: { "9a": { source: "literal", value: 1 } } }),
    `invalid_pattern ${at}/interfaces/0/spec/inputs/9a`
  ],
  [
    "input of an unknown source",
    spec({ inputs: { a: { source: "variable" } } }),
    `invalid_value ${at}/interfaces/0/spec/inputs/a/source`
  ],
  [
    "literal without a value",
    spec({ inputs: { a: { source: "literal" } } }),
    `missing_field ${at}/interfaces/0/spec/inputs/a/value`
  ],
  [
    "output of an unknown type",
    spec({ inputs: { a: { source: "output", outputName: "u", outputType: "map" } } }),
    `invalid_value ${at}/interfaces/0/spec/inputs/a/outputType`
  ],
  [
    "visibility public",
    spec({ access: { visibility: "public" } }),
    `invalid_value ${at}/interfaces/0/spec/access/visibility`
  ],
  [
    "policyRef",
    spec({ access: { visibility: "workspace", policyRef: "x" } }),
    `unknown_field ${at}/interfaces/0/spec/access/policyRef`
  ],
  ["1 binding request", interfaces(iface({ bindingRequests: [bindingRequest()] })), "valid"],
  [
    "2 binding requests",
    interfaces(iface({ bindingRequests: [bindingRequest(), bindingRequest({ key: "b" })] })),
    `invalid_count ${at}/interfaces/0/bindingRequests`
  ],
  [
    "another subject",
    request({ subject: { source: "workspace" } }),
    `invalid_value ${at}/interfaces/0/bindingRequests/0/subject/source`
  ],
  [
    "a principal",
    request({ subject: { source: "installing_principal", id: "x" } }),
    `unknown_field ${at}/interfaces/0/bindingRequests/0/subject/id`
  ],
  ["no permissions", request({ permissions: [] }), `invalid_count ${at}/interfaces/0/bindingRequests/0/permissions`],
  ["16 permissions", request({ permissions: list(16, (n) => `p${n}`) }), "valid"],
  [
    "17 permissions",
    request({ permissions: list(17, (n) => `p${n}`) }),
    `invalid_count ${at}/interfaces/0/bindingRequests/0/permissions`
  ],
  [
    "a permission twice",
    request({ permissions: ["a", "a"] }),
    `not_unique ${at}/interfaces/0/bindingRequests/0/permissions`
  ],
  ["permission of 256 characters", request({ permissions: [text(256)] }), "valid"],
  [
    "permission of 257 characters",
    request({ permissions: [text(257)] }),
    `invalid_length ${at}/interfaces/0/bindingRequests/0/permissions/0`
  ],
  [
    "permission of every visible sign but two",
    request({ permissions: ["!#$%&'()*+,-./09:;<=>?@AZ[]^_`az{|}~"] }),
    "valid"
  ],
  ...['a"b', "a\\b", "a b", "aé", "a\u007f"].map(
    (permission): Row => [
      `permission ${JSON.stringify(permission)}`,
      request({ permissions: [permission] }),
      `invalid_pattern ${at}/interfaces/0/bindingRequests/0/permissions/0`
    ]
  ),
  ["binding key of 128 characters", request({ key: text(128) }), "valid"],
  [
    "binding key of 129 characters",
    request({ key: text(129) }),
    `invalid_length ${at}/interfaces/0/bindingRequests/0/key`
  ],
  ["delivery type of 128 characters", request({ delivery: { type: text(128) } }), "valid"],
  [
    "delivery type of 129 characters",
    request({ delivery: { type: text(129) } }),
    `invalid_length ${at}/interfaces/0/bindingRequests/0/delivery/type`
  ]
])
