import { manifestRules } from "./ManifestRules.ts"
import { compiler, inputs, installs, manifest, material, parser, requires, rules, versions } from "./RuleTests.ts"
import type { SpecificationRule } from "./SpecificationRule.ts"

const options = manifest("SourceOptions")
const link = "schema/handoff/InstallLink.test.ts"
const returns = "schema/handoff/ReturnUri.test.ts"
const handoffs = "actors/commands/handoff/Handoffs.test.ts"
const walk = "e2e/HostedModules.test.ts"

const moduleSelection: ReadonlyArray<SpecificationRule> = [
  [
    "exactly one scanned module is auto-selected; with several the user selects",
    installs,
    "an install selects the only module, requires a choice among several"
  ],
  [
    "a path present only in the manifest is no candidate; an absent path fails with a typed error",
    installs,
    "module_not_found"
  ],
  [
    "an absent manifest never blocks; an invalid one is neither guessed nor partially adopted",
    compiler,
    "absent",
    "no part of an invalid manifest is adopted, and its diagnostics are kept",
    "a single unverified input disables the entire manifest"
  ],
  [
    "only an operator who requires an exact version makes it fatal",
    compiler,
    "an operator can require an exact version, which makes every problem fatal"
  ],
  [
    "stable-semver: the newest of vX.Y.Z and X.Y.Z; both of one version are ambiguous",
    "runner/git/StableVersion.test.ts",
    "Stable versions (G17)",
    "a branch is not treated as a tag"
  ]
]

const sourceOptions: ReadonlyArray<SpecificationRule> = [
  ["apiVersion and kind", options, "another version", "another kind"],
  ["1 to 32 options with unique ids", options, "0 options", "1 option", "32 options", "33 options", "an id twice"],
  [
    "source: an HTTPS Git URL, a relative path, an optional ref",
    options,
    "url by http",
    "url with credentials",
    "path outside",
    "path .",
    "ref that is an option"
  ],
  [
    "no credentials, provider config, region, pricing, Interfaces, automatic install",
    options,
    "credentials in a source",
    "region in an option",
    "pricing in metadata",
    "Interfaces in an option",
    "an automatic install"
  ],
  [
    "a regular UTF-8 JSON file, at most 128 KiB",
    options,
    "the source options file must be UTF-8 JSON of at most 128 KiB, and errors are typed (J5)"
  ],
  [
    "entry URL: kind, git, path, optional ref",
    link,
    "source options with a ref",
    "source options without git",
    "source options without path",
    "kind twice"
  ]
]

const handOff: ReadonlyArray<SpecificationRule> = [
  ["exactly one of git or source", link, "neither source (R2)", "both sources (R2)"],
  [
    "product and return_uri together or not at all",
    link,
    "product without return_uri (R2)",
    "return_uri without product (R2)",
    "both"
  ],
  [
    "/install?=product, /install?product and /install?product=<value> are not valid",
    link,
    "/install?=product",
    "/install?product",
    "/install?product=app"
  ],
  ["sourcePath and path accept only . or a normalized relative directory", link, "path .", "%2e%2e", "a//b"],
  [
    "an unknown, duplicate or invalid field rejects the link as a whole",
    link,
    "a key twice (R2)",
    "an unknown key (R2)",
    "an encoded key (R2)"
  ],
  ["module inputs never travel in the URL", link, "a module input (R2)", "a JSON module input (R2)"],
  ["product pattern", link, "product of 64 characters", "product of 65 characters (R2)", "product in upper case"],
  [
    "return_uri: absolute, no credentials, query or fragment, own scheme in authority form",
    returns,
    "https://u:p@app.example/cb",
    "https://app.example/cb?a=b",
    "myapp:cb",
    "http://app.example/cb",
    "a return address on the service itself is rejected"
  ],
  [
    "nothing is created by the link; a bad one is refused as a whole",
    "src/http/Handoff.test.ts",
    "an install link redirects to the creation flow under its canonical address",
    "an invalid install link is rejected outright, with a page that explains why and does not repeat any part of the link",
    "an install link creates nothing, and accepts only read requests"
  ],
  [
    "after a successful apply: host_url, product, run_id, capsule_id, setup_ticket",
    walk,
    "a hosted module is planned, applied with delivered values, handed back, consumed by another Capsule, and destroyed"
  ],
  [
    "setup_ticket is a one-time hand-off token",
    handoffs,
    "a hand-off ticket redeemed many times concurrently is accepted exactly once",
    "a hand-off ticket expires exactly ten minutes after it was issued",
    "a repeated hand-off returns a new ticket"
  ]
]

const attacks: ReadonlyArray<SpecificationRule> = [
  [
    "J1",
    "schema/json/JsonDocument.test.ts",
    "each JSON limit accepts a value at the limit and rejects the next larger value (J1)"
  ],
  ["J2", "schema/json/JsonDocument.test.ts", "the decoder rejects a million opening brackets at the depth limit (J2)"],
  ["J3", "schema/json/JsonDocument.test.ts", "(J3)", "by escapes written differently"],
  ["J4", rules, "a resource input by prototype name (J4)"],
  ["J5", parser, "a manifest of 128 KiB is accepted, and one more byte is rejected (J5)"],
  ["J6", versions, "versions (J6)"],
  ["J7", material, "(J7)"],
  ["J8", inputs, "label of 160 emoji, counted as characters (J8)", "label of 161 emoji (J8)"],
  ["J9", inputs, "name with outer white space (J9)"],
  ["J10", inputs, "name with a line feed (J10)"],
  ["J11", manifest("InputCompiler"), "a manifest is rejected if an input's variable or type cannot be verified (J11)"],
  ["J12", "actors/commands/capsule/Authority.test.ts", 'variablePatch: { set: { name: "[redacted]" } }'],
  [
    "J13",
    "src/http/ClosedBodies.test.ts",
    "a request body is rejected if it sets a field that only the service may set (J13)"
  ],
  ["J14", requires, "bytes as a string (J14)"],
  [
    "J15",
    "schema/RegularExpressions.test.ts",
    "every regular expression in the service takes at most linear time (J15)",
    "the analysis detects quadratic and exponential expressions"
  ],
  ["R1", returns, "(R1)"],
  ["R2", link, "a key twice (R2)"],
  ["R3", "schema/handoff/ReturnRedirect.test.ts", "payload values cannot add fields to the return address (R3)"],
  ["R4", handoffs, "(R4)"],
  ["G14", "runner/scan/ModuleSource.test.ts", "(G14)"],
  ["G15", "runner/execution/ModuleRunner.test.ts", "(G15)"],
  [
    "G16",
    "runner/execution/SourceBuild.test.ts",
    "(G16)",
    "a source build fails if its outputs are missing, or contain links, special files or configuration"
  ],
  ["G17", "runner/git/StableVersion.test.ts", "(G17)", "100,000 tags"]
]

/** All rules in the manifest, module selection, source options and hand-off sections, and all attacks on these rules. */
export const specificationRules: ReadonlyArray<readonly [section: string, rules: ReadonlyArray<SpecificationRule>]> = [
  ["repository manifest", manifestRules],
  ["module selection and versions", moduleSelection],
  ["source options document", sourceOptions],
  ["hand-off entry URL", handOff],
  ["attacks", attacks]
]
