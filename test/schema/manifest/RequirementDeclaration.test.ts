import { consume, endpoint, manifest, oidc, secret, type JsonObject } from "./ManifestFixture.ts"
import { at, list, table, text, type Row } from "./RuleTable.ts"

const v = "svc.com/v2.3"
const requires = (...requirements: ReadonlyArray<JsonObject>) => manifest(v, { requires: requirements })
const withIdentity = (more: JsonObject) => requires(endpoint(), oidc(more))
const callback = (path: string) => withIdentity({ callbackPath: path })

table("requirements", [
  [
    "16 of them",
    requires(
      ...list(8, (n) => `s${n}`).map((name) => secret(name)),
      ...list(8, (n) => `k${n}`).map((key) => consume({ key }))
    ),
    "valid"
  ],
  [
    "17 of them",
    requires(
      ...list(8, (n) => `s${n}`).map((name) => secret(name)),
      ...list(9, (n) => `k${n}`).map((key) => consume({ key }))
    ),
    `invalid_count ${at}/requires`
  ],
  ["unknown kind", requires({ kind: "database" }), `invalid_value ${at}/requires/0/kind`],
  [
    "both lanes",
    requires(secret("a", { deliver: { variables: { value: "a" }, bindings: { value: "B" } } })),
    `invalid_count ${at}/requires/0/deliver`
  ],
  ["no lane", requires(secret("a", { deliver: {} })), `invalid_count ${at}/requires/0/deliver`],
  [
    "no slot",
    requires(secret("a", { deliver: { variables: {} } })),
    `invalid_count ${at}/requires/0/deliver/variables`
  ],
  ["bindings", requires(secret("a", { deliver: { bindings: { value: "SESSION_KEY" } } })), "valid"],
  [
    "slot of another kind",
    requires(secret("a", { deliver: { variables: { url: "a" } } })),
    `unknown_field ${at}/requires/0/deliver/variables/url`
  ],
  [
    "a prototype name as slot (J4)",
    requires(secret("a", { deliver: { variables: { value: "a", constructor: "b" } } })),
    `unknown_field ${at}/requires/0/deliver/variables/constructor`
  ],
  ["target of 128 characters", requires(secret(text(128))), "valid"],
  ["target of 129 characters", requires(secret(text(129))), `invalid_length ${at}/requires/0/deliver/variables/value`],
  ["target with a dash", requires(secret("a-b")), `invalid_pattern ${at}/requires/0/deliver/variables/value`],
  ["16 bytes", requires(secret("a", { bytes: 16 })), "valid"],
  ["15 bytes", requires(secret("a", { bytes: 15 })), `invalid_number ${at}/requires/0/bytes`],
  ["64 bytes", requires(secret("a", { bytes: 64 })), "valid"],
  ["65 bytes", requires(secret("a", { bytes: 65 })), `invalid_number ${at}/requires/0/bytes`],
  ["16.5 bytes", requires(secret("a", { bytes: 16.5 })), `invalid_number ${at}/requires/0/bytes`],
  ["bytes as a string (J14)", requires(secret("a", { bytes: "16" })), `wrong_type ${at}/requires/0/bytes`],
  ["encoding base64", requires(secret("a", { encoding: "base64" })), `invalid_value ${at}/requires/0/encoding`],
  ["a value in secret.generated", requires(secret("a", { value: "x" })), `unknown_field ${at}/requires/0/value`],
  [
    "endpoint slots",
    requires({ kind: "http.endpoint", deliver: { variables: { url: "a", subdomain: "b", routePattern: "c" } } }),
    "valid"
  ],
  ["more in an endpoint", requires({ ...endpoint(), port: 80 }), `unknown_field ${at}/requires/0/port`],
  ...["/", "/cb", "/a/b.c", "/a//b", `/${text(511)}`].map(
    (path): Row => [`callback ${path.slice(0, 12)}`, callback(path), "valid"]
  ),
  ...["cb", "//cb", "/a?b", "/a#b", "/a\\b", "/a/../b", "/a/./b", "/..", "/%2e%2e/a", "/a b", "/\n", "/é"].map(
    (path): Row => [`callback ${JSON.stringify(path)}`, callback(path), `invalid_path ${at}/requires/1/callbackPath`]
  ),
  ["callback of 513 characters", callback(`/${text(512)}`), `invalid_length ${at}/requires/1/callbackPath`],
  ["16 scopes", withIdentity({ scopes: ["openid", ...list(15, (n) => `s${n}`)] }), "valid"],
  [
    "17 scopes",
    withIdentity({ scopes: ["openid", ...list(16, (n) => `s${n}`)] }),
    `invalid_count ${at}/requires/1/scopes`
  ],
  ["no scopes", withIdentity({ scopes: [] }), `invalid_count ${at}/requires/1/scopes`],
  ["a scope twice", withIdentity({ scopes: ["openid", "openid"] }), `not_unique ${at}/requires/1/scopes`],
  ["scope of 128 characters", withIdentity({ scopes: ["openid", text(128)] }), "valid"],
  [
    "scope of 129 characters",
    withIdentity({ scopes: ["openid", text(129)] }),
    `invalid_length ${at}/requires/1/scopes/1`
  ],
  ["scope with a space", withIdentity({ scopes: ["openid", "a b"] }), `invalid_pattern ${at}/requires/1/scopes/1`],
  ["scopes as a string (J14)", withIdentity({ scopes: "openid" }), `wrong_type ${at}/requires/1/scopes`],
  ["a client secret", withIdentity({ clientSecret: "x" }), `unknown_field ${at}/requires/1/clientSecret`],
  [
    "consume with deliver",
    requires(consume({ deliver: { variables: { value: "a" } } })),
    `unknown_field ${at}/requires/0/deliver`
  ],
  [
    "consume with an Interface id",
    requires(consume({ interfaceId: "x" })),
    `unknown_field ${at}/requires/0/interfaceId`
  ],
  [
    "consume without a version",
    requires(consume({ interface: { type: "a" } })),
    `missing_field ${at}/requires/0/interface/version`
  ],
  ["consume type of 256 characters", requires(consume({ interface: { type: text(256), version: "1" } })), "valid"],
  [
    "consume type of 257 characters",
    requires(consume({ interface: { type: text(257), version: "1" } })),
    `invalid_length ${at}/requires/0/interface/type`
  ],
  ["consume with 16 permissions", requires(consume({ permissions: list(16, (n) => `p${n}`) })), "valid"],
  [
    "consume with 17 permissions",
    requires(consume({ permissions: list(17, (n) => `p${n}`) })),
    `invalid_count ${at}/requires/0/permissions`
  ],
  ["consume key of 128 characters", requires(consume({ key: text(128) })), "valid"],
  ["consume key of 129 characters", requires(consume({ key: text(129) })), `invalid_length ${at}/requires/0/key`],
  [
    "consume version of 257 characters",
    requires(consume({ interface: { type: "a", version: text(257) } })),
    `invalid_length ${at}/requires/0/interface/version`
  ],
  ["consume with no permissions", requires(consume({ permissions: [] })), `invalid_count ${at}/requires/0/permissions`],
  [
    "consume with a permission twice",
    requires(consume({ permissions: ["a", "a"] })),
    `not_unique ${at}/requires/0/permissions`
  ],
  ["consume with a delivery type of 128 characters", requires(consume({ delivery: { type: text(128) } })), "valid"],
  [
    "consume with a delivery type of 129 characters",
    requires(consume({ delivery: { type: text(129) } })),
    `invalid_length ${at}/requires/0/delivery/type`
  ],
  [
    "consume with more in delivery",
    requires(consume({ delivery: { type: "none", to: "x" } })),
    `unknown_field ${at}/requires/0/delivery/to`
  ]
])
