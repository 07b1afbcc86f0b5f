/**
 * Reads a licence text from the `licenses` folder, or from LICENSE for the Apache License, and puts the copyright line of
 * the component before it.
 */
export interface KnownText {
  readonly file:
    | "LICENSE"
    | `licenses/${
        | "BSD-2-Clause"
        | "BSD-3-Clause"
        | "Go"
        | "ICU"
        | "IJG"
        | "ISC"
        | "LGPL-2.0"
        | "LGPL-2.1"
        | "LLVM-exception"
        | "MIT"
        | "MPL-2.0"
        | "OpenSSL"
        | "SQLite"
        | "Unicode-TOU"
        | "Zlib"}.txt`
  readonly copyright?: string
}

/** npm packages that declare their licence but do not include its text. */
export const missingTexts: Readonly<Record<string, ReadonlyArray<KnownText>>> = {
  "@docsearch/css": [{ file: "licenses/MIT.txt", copyright: "Copyright (c) 2015-present Algolia, Inc." }],
  "clean-git-ref": [{ file: "LICENSE", copyright: "Copyright Eli White" }],
  diff3: [{ file: "licenses/MIT.txt", copyright: "Copyright Tyler Wanek" }],
  standardwebhooks: [{ file: "licenses/MIT.txt", copyright: "Copyright (c) 2023 Svix (https://www.svix.com)" }]
}

/** A component that is not a package in the registry. */
export interface OtherComponent {
  readonly name: string
  readonly license: string
  readonly origin: string
  readonly texts: readonly [KnownText, ...Array<KnownText>]
}

const goModule = (name: string, license: string, ...texts: OtherComponent["texts"]) => ({
  name,
  license,
  origin: `https://${name.replace(/\/v\d+$/, "")}, compiled into the WebAssembly of @cdktn/hcl2json`,
  texts
})

/** The Go modules in the HCL parser, keyed by path. The versions are read from the program. */
export const parserModules: ReadonlyArray<OtherComponent> = [
  goModule("github.com/agext/levenshtein", "Apache-2.0", { file: "LICENSE", copyright: "Copyright 2016 ALRUX Inc." }),
  goModule(
    "github.com/apparentlymart/go-textseg/v15",
    "MIT AND Apache-2.0 AND Unicode-TOU",
    { file: "licenses/MIT.txt", copyright: "Copyright (c) 2017 Martin Atkins" },
    { file: "LICENSE", copyright: "Copyright (c) 2014 Couchbase, Inc." },
    { file: "licenses/Unicode-TOU.txt", copyright: "Copyright 1991-2017 Unicode, Inc." }
  ),
  goModule("github.com/hashicorp/hcl/v2", "MPL-2.0", {
    file: "licenses/MPL-2.0.txt",
    copyright: "Copyright (c) 2014 HashiCorp, Inc."
  }),
  goModule("github.com/tmccombs/hcl2json", "Apache-2.0", {
    file: "LICENSE",
    copyright: "Copyright the authors of tmccombs/hcl2json"
  }),
  goModule("github.com/zclconf/go-cty", "MIT", {
    file: "licenses/MIT.txt",
    copyright: "Copyright (c) 2017-2018 Martin Atkins"
  }),
  goModule("golang.org/x/text", "BSD-3-Clause", { file: "licenses/Go.txt" })
]

/** Go itself. Every program that Go compiles contains the Go runtime and library. */
export const goItself: OtherComponent = {
  name: "Go",
  license: "BSD-3-Clause",
  origin: "https://go.dev, compiled into the WebAssembly of @cdktn/hcl2json",
  texts: [{ file: "licenses/Go.txt" }]
}
