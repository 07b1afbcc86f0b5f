import { expect, test } from "bun:test"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { actorReferences } from "../../../actors/cluster/ActorReferences.ts"

const root = join(import.meta.dir, "../../..")

/** The keys of all references that are defined in these folders. */
const definedIn = (folders: ReadonlyArray<string>) =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".ts"))
      .flatMap((name) => [
        ...readFileSync(join(root, folder, name), "utf8").matchAll(/Context\.Reference\b[^"]*?\(\s*"(?<key>[^"]+)"/g)
      ])
      .map((match) => match.groups?.["key"] ?? "")
  )

// An actor would read the default of a reference that is missing, whatever has been provided.
test("actors get every reference that actors and runner define", () => {
  const defined = definedIn(["actors", "runner"])
  expect(defined.length).toBeGreaterThan(30)
  expect(defined.filter((key) => !key.startsWith("svc/"))).toEqual([])
  expect(actorReferences.map(({ key }) => key).toSorted()).toEqual(defined.toSorted())
})
