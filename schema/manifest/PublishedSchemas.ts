import { Schema } from "effect"
import { manifestDocuments, type ManifestVersion } from "./RepositoryManifest.ts"
import { SourceOptions } from "./SourceOptions.ts"

/** A JSON Schema (draft 2020-12) for authors' editors. */
export interface PublishedSchema {
  readonly fileName: string
  /**
   * Derives the schema from the definitions on demand, because doing so at startup would noticeably increase the startup
   * time.
   */
  readonly document: () => { readonly [keyword: string]: unknown }
}

const publish = (fileName: string, title: string, schema: Schema.Constraint): PublishedSchema => ({
  fileName,
  document: () => {
    const { definitions, schema: root } = Schema.toJsonSchemaDocument(schema, { onExcessProperty: "error" })
    const described = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      $id: `https://svc.com/schemas/${fileName}`,
      title,
      description: "Structure only: the parser enforces further rules, and never accepts what this schema refuses."
    }
    const shared = Object.keys(definitions).length === 0 ? {} : { $defs: definitions }
    return { ...described, ...root, ...shared }
  }
})

const manifestSchema = (version: ManifestVersion) => {
  const short = version.slice("svc.com/".length)
  return publish(
    `repository-manifest-${short}.schema.json`,
    `svc repository manifest ${short}`,
    manifestDocuments[version]
  )
}

/** The structural schemas of manifests (from v2.1) and of source options documents, in a fixed order. */
export const publishedSchemas: ReadonlyArray<PublishedSchema> = [
  manifestSchema("svc.com/v2.1"),
  manifestSchema("svc.com/v2.2"),
  manifestSchema("svc.com/v2.3"),
  manifestSchema("svc.com/v2.4"),
  publish("capsule-source-options-v1alpha1.schema.json", "svc capsule source options v1alpha1", SourceOptions)
]

/** Returns the exact content of a checked-in schema file. */
export const publishedText = (schema: PublishedSchema): string => `${JSON.stringify(schema.document(), null, 2)}\n`
