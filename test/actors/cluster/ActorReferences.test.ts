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

/** References of the routes, the process and the cluster: no code that runs in an actor reads them. */
const readElsewhere = [
  "svc/account/PasswordCost",
  "svc/actors/ReferenceKeys",
  "svc/backup/SvcCommand",
  "svc/cli/Quiet",
  "svc/cli/login/AccountHome",
  "svc/dashboard/EmbeddedDashboard",
  "svc/database/DatabasePresence",
  "svc/database/ExpectedInstallation",
  "svc/database/PageWatch",
  "svc/database/StorageSpace",
  "svc/http/ApiEntrance",
  "svc/http/BackupNotices",
  "svc/http/Exchange",
  "svc/http/IsolationNotice",
  "svc/http/authorization/Admitted",
  "svc/http/authorization/AmbientIdentity",
  "svc/licenses/EmbeddedLicenses",
  "svc/sandbox/KnownVariants",
  "svc/schema/api/BrowserLanding",
  "svc/schema/api/RawBody",
  "svc/streams/RecheckInterval",
  "svc/streams/StalledAfter"
]

// An actor would read the default of a reference that is missing, whatever has been provided.
test("actors get every reference that is defined, except those that only other code reads", () => {
  const defined = definedIn(["actors", "runner", "schema", "src"])
  expect(defined.length).toBeGreaterThan(45)
  expect(defined.filter((key) => !key.startsWith("svc/"))).toEqual([])
  expect([...actorReferences.map(({ key }) => key), ...readElsewhere].toSorted()).toEqual(defined.toSorted())
})
