import { Schema } from "effect"

/** A document that must be distributed with a component, such as its licence or a notice. */
const LicenseText = Schema.Struct({ file: Schema.String, text: Schema.NonEmptyString })

/** A third-party component of the shipped product. `license` is an SPDX expression. */
export const Component = Schema.Struct({
  name: Schema.String,
  version: Schema.String,
  license: Schema.String,
  /** Origin of the component, and the form in which it is shipped. */
  origin: Schema.String,
  texts: Schema.NonEmptyArray(LicenseText)
})
export type Component = typeof Component.Type

/** Licences of the product and of all components that it contains. */
export const LicenseReport = Schema.Struct({
  product: Schema.Struct({
    name: Schema.String,
    version: Schema.String,
    license: Schema.String,
    text: Schema.NonEmptyString,
    notice: Schema.NonEmptyString
  }),
  components: Schema.NonEmptyArray(Component)
})
export type LicenseReport = typeof LicenseReport.Type

export const LicenseReportJson = Schema.fromJsonString(LicenseReport)

/** File names of the report, which is placed next to a binary and in a package. */
export const thirdPartyFile = "THIRD-PARTY-LICENSES.txt"

const rule = "=".repeat(100)

const componentText = ({ license, name, origin, texts, version }: Component): string =>
  [
    rule,
    `${name} ${version}`,
    `License: ${license}`,
    `Origin: ${origin}`,
    ...texts.map(({ text }) => `\n${text.trim()}`)
  ]
    .join("\n")
    .concat("\n")

/** Formats the whole report as text. */
export const reportText = ({ components, product }: LicenseReport): string =>
  [
    `${product.name} ${product.version}`,
    `License: ${product.license}`,
    "",
    product.text.trim(),
    "",
    rule,
    "NOTICE",
    "",
    product.notice.trim(),
    "",
    rule,
    `${components.length} components of others are part of this product:`,
    "",
    ...components.map(({ license, name, version }) => `  ${name} ${version} (${license})`),
    "",
    ...components.map(componentText)
  ].join("\n")
