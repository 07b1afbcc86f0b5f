import type { Component } from "./LicenseReport.ts"

/** Licences that impose no conditions on svc's own code. They require only that the licence text is included. */
const permissive: ReadonlySet<string> = new Set([
  "0BSD",
  "Apache-2.0",
  "Apache-2.0 WITH LLVM-exception",
  "BlueOak-1.0.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "IJG",
  "ISC",
  "MIT",
  "MIT-0",
  "OpenSSL",
  "Unicode-3.0",
  "Unicode-TOU",
  "Unlicense",
  "Zlib"
])

/** Components that may be shipped under a stricter licence. NOTICE explains how svc meets the terms of the licence. */
const exceptions: ReadonlySet<string> = new Set([
  "@cdktn/hcl2json MPL-2.0",
  "github.com/hashicorp/hcl/v2 MPL-2.0",
  "@fontsource-variable/geist OFL-1.1",
  "@fontsource-variable/geist-mono OFL-1.1",
  "JavaScriptCore and WebKit, in Bun LGPL-2.0-or-later",
  "TinyCC, in Bun LGPL-2.1-or-later",
  "SQLite, in Bun blessing"
])

/**
 * Returns the reason why a component must not be shipped, if any. In an `AND`, all parts have to be allowed. In an `OR`, at
 * least one part has to be allowed.
 */
export const licenseProblem = ({ license, name, version }: Pick<Component, "license" | "name" | "version">) => {
  const isAllowed = (expression: string): boolean => {
    const bare = expression.replace(/^\((.*)\)$/, "$1")
    if (bare.includes("(")) return false
    return bare.split(" OR ").some((choice) => choice.split(" AND ").every((part) => permissive.has(part)))
  }
  return isAllowed(license) || exceptions.has(`${name} ${license}`)
    ? undefined
    : `${name} ${version} is under "${license}", which is not among the licences that are allowed.`
}
