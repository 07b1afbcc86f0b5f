import { NodeServices } from "@effect/platform-node"
import { describe, expect, test } from "bun:test"
import { Effect, FileSystem } from "effect"
import { checksums, releaseNotes } from "../../scripts/ReleaseFiles.ts"
import { it } from "../support/Effect.ts"

const changelog = `# Changelog

## Unreleased

- Later.

## 0.10.0 (2026-12-01)

- Ten.

## 0.1.0

- One.
`

describe("Release files", () => {
  test("release notes consist of the release's section of the changelog", () => {
    expect(releaseNotes(changelog, "0.10.0")).toBe("- Ten.\n")
    expect(releaseNotes(changelog, "0.1.0")).toBe("- One.\n")
    expect(releaseNotes(changelog, "0.2.0")).toBe("")
  })

  it.live("the checksums cover every file in order, except the checksum file itself", () =>
    Effect.gen(function* () {
      const files = yield* FileSystem.FileSystem
      const folder = yield* files.makeTempDirectoryScoped({ prefix: "svc-sums-" })
      for (const name of ["b", "a", "SHA256SUMS"]) yield* files.writeFileString(`${folder}/${name}`, name)
      const sums = yield* checksums(folder)
      expect(sums).toBe(
        [
          "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb  a",
          "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d  b",
          ""
        ].join("\n")
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
