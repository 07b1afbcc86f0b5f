import { describe, expect, test } from "bun:test"
import { Effect, FileSystem, Result } from "effect"
import { NodeServices } from "@effect/platform-node"
import { Ajv2020 } from "ajv/dist/2020.js"
import * as fc from "fast-check"
import { publishedSchemas, publishedText } from "../../../schema/manifest/PublishedSchemas.ts"
import { parseSourceOptions } from "../../../schema/manifest/SourceOptions.ts"
import { it } from "../../support/Effect.ts"
import { bytes, fullModule, manifest, parse } from "./ManifestFixture.ts"
import { nearValid } from "./NearValid.ts"
import { validOptions } from "./SourceOptionsFixture.ts"

const folder = `${import.meta.dirname}/../../../schema/manifest/published`

describe("checked-in files", () => {
  it.live("the published schemas match the definitions exactly", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      expect((yield* fs.readDirectory(folder)).toSorted()).toEqual(
        publishedSchemas.map(({ fileName }) => fileName).toSorted()
      )
      for (const schema of publishedSchemas) {
        expect(yield* fs.readFileString(`${folder}/${schema.fileName}`)).toBe(publishedText(schema))
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

const { sourceBuild, ...withoutBuild } = fullModule
const requires = withoutBuild["requires"]
const untilV2_1 = { ...withoutBuild, requires: Array.isArray(requires) ? requires.slice(0, 3) : [] }
const documents = [
  manifest("svc.com/v2.1", untilV2_1, { defaultModule: "." }),
  manifest("svc.com/v2.2", withoutBuild, { defaultModule: "." }),
  manifest("svc.com/v2.3", { ...withoutBuild, sourceBuild: sourceBuild ?? null }, { defaultModule: "." }),
  manifest("svc.com/v2.4", fullModule),
  validOptions
]
const accepts = (document: unknown, index: number) =>
  index === 4 ? Result.isSuccess(parseSourceOptions(bytes(document))) : Result.isSuccess(parse(document))

describe.each(publishedSchemas.map((schema, index) => [schema.fileName, schema.document(), index] as const))(
  "%s",
  (_, schema, index) => {
    const validate = new Ajv2020({ strict: true, allErrors: false }).compile(schema)

    test("the published schema and the parser both accept the full document", () => {
      expect(validate(documents[index])).toBe(true)
      expect(accepts(documents[index], index)).toBe(true)
    })

    test("the published schema rejects nothing that the parser accepts", () => {
      let refused = 0
      fc.assert(
        fc.property(nearValid(documents[index]), (document) => {
          if (validate(document)) return
          refused++
          expect(accepts(document, index)).toBe(false)
        }),
        { numRuns: 400 }
      )
      expect(refused).toBeGreaterThan(100)
    })

    test("the published schema accepts every document that the parser accepts, but no unknown fields", () => {
      const document = documents[index]
      expect(validate({ ...document, extra: 1 })).toBe(false)
      expect(validate({ ...document, kind: "Other" })).toBe(false)
      expect(JSON.stringify(schema)).toContain('"additionalProperties":false')
    })
  }
)
