import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative, sep } from "node:path"

/**
 * The floors (dependency layers) of `actors/`, lowest first, each with its purpose and its concept folders. A file imports
 * only from its own floor and from lower floors. This list alone defines the order, and `docs/builders/actors.md` is
 * generated from it.
 */
export const actorFloors: ReadonlyArray<
  readonly [name: string, purpose: string, folders: Readonly<Record<string, string>>]
> = [
  [
    "base",
    "what every record needs: ids, clock, due work, and the kit of the actors (`actors/Actor.ts`)",
    {
      database: "transactions, reads, notices of commits",
      vault: "sealing, keys, integrity of sealed columns",
      paging: "signed cursors and pages of rows",
      audit: "the audit trail",
      idempotency: "receipts of repeatable creates",
      credential: "the format of bearer secrets, and the identity that presents one",
      node: "the servers of a database, and work that only one of them does",
      mail: "mails to people: texts, queue, connection to the mail server",
      notice: "notices that leave the server: the outbox, its deliveries, and their forms"
    }
  ],
  [
    "ledger",
    "the records: rows, journals, logs",
    {
      workspace: "Workspaces, Projects, memberships, the switch of automation",
      run: "Runs: row, lifecycle, journal, logs, streams, cancels",
      archive: "copies of archives for other servers",
      build: "archives of built modules",
      state: "StateVersions, checkpoints, backups",
      source: "Sources, their lanes, snapshots and findings",
      "pull-request-report": "the comment and status of a pull request, as svc last wrote them",
      "pull-request": "pull requests: rows, and the judgement of a repository's refs",
      configuration:
        "install configurations: compiled, stored, governed by the operator's base configurations, succeeded",
      capsule: "the authoritative row of a Capsule: fence, guard, pins",
      consumption: "Outputs that are offered, shared and consumed",
      staleness: "reasons of a stale Capsule, and the commits that concern it",
      interface: "Interfaces of Capsules and their bindings",
      dependency: "dependencies between Capsules",
      "output-share": "Outputs shared across Workspaces"
    }
  ],
  [
    "access",
    "people and programs, and their permissions",
    {
      issuer: "the OIDC issuer: clients, grants, codes, tokens, keys",
      account: "people: sign-in, sessions, passkeys, personal access tokens",
      member: "people in a Workspace: invitations, roles, suspension",
      team: "teams of a Workspace, and the roles that they add",
      notice: "the endpoints of notices: who may change and read them",
      approval: "approval rules, approvals of a plan, permission to apply it"
    }
  ],
  [
    "inputs",
    "values and credentials that a Run receives",
    {
      delivery: "values that the service passes to a module: endpoints, clients, generated secrets",
      connection: "Connections: credentials, origins, use, rotation, OAuth helpers",
      git: "the Git Connection of a fetch, and the fetch of a lane"
    }
  ],
  [
    "running",
    "the order and the execution of Runs",
    {
      "agent-pool": "pools of agents: enrolment, sessions, the choice of an agent for a Run",
      queue: "the order of Runs: one pure decision, its rows and its texts",
      "run-group": "groups of Runs in waves",
      execution: "execution, settlement and recovery of a Run",
      "carry-over": "approvals of a change that also approve the plan of the lane",
      agent: "messages with agents: offers, leases, blobs, results"
    }
  ],
  [
    "commands",
    "requests of people, schedules and webhooks",
    {
      run: "commands on a Run",
      capsule: "commands on a Capsule, from people, lanes and groups",
      "capsule-export": "the export of a Capsule to its owner",
      adoption: "states of existing infrastructure: received, checked, adopted",
      source: "commands on a Source",
      "pull-request-report": "the comment and status of a pull request at its forge",
      "pull-request": "looks for pull requests, and the steps of each",
      "revision-plan": "plans of another revision",
      "install-plan": "plans that make a new Capsule",
      attention: "the things in a Workspace that need a person",
      handoff: "setup tickets and the return to another site"
    }
  ],
  [
    "upkeep",
    "removal, and the review after a restore",
    {
      restore: "the operator's review after a restore",
      retention: "removal of records when their time is over, and the reasons that keep them",
      cleanup: "background work that has no other owner"
    }
  ]
]

/** The composition is above every floor. */
const composition = "Runtime.ts"

const floorNames = actorFloors.map(([name]) => name)

/** Returns the floor of a file or folder below `actors/`. Files directly in `actors/` belong to the lowest floor. */
const floorOf = (path: string): string => (path.includes("/") ? path.slice(0, path.indexOf("/")) : "base")

export interface FolderImport {
  readonly from: string
  readonly to: string
  readonly file: string
  readonly target: string
}

/** Lists every import from one folder of `actors/` into another. */
export const folderImports = (root: string): ReadonlyArray<FolderImport> => {
  const room = join(root, "actors")
  const pathOf = (path: string) => relative(room, path).split(sep).join("/")
  return readdirSync(room, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== composition)
    .flatMap((name) => {
      const file = join(room, name)
      const specifiers = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'\n]+)["']/g)
      return [...specifiers].flatMap(([, specifier]) => {
        const target = normalize(join(dirname(file), specifier ?? ""))
        const inside = !relative(room, target).startsWith("..")
        return inside && dirname(file) !== dirname(target)
          ? [{ from: pathOf(dirname(file)), to: pathOf(dirname(target)), file: pathOf(file), target: pathOf(target) }]
          : []
      })
    })
}

/** Lists imports from a higher floor or from a folder that is not on a floor. */
export const upwardImports = (imports: ReadonlyArray<FolderImport>): ReadonlyArray<string> => {
  const height = (path: string) => floorNames.indexOf(floorOf(path))
  return imports
    .filter(({ file, target }) => height(target) === -1 || height(target) > height(file))
    .map(({ file, target }) => `actors/${file} -> actors/${target}`)
}

/** Generates the page `docs/builders/actors.md`. */
export const actorsPage = (imports: ReadonlyArray<FolderImport>): string => {
  const arrows = new Map<string, Set<string>>(floorNames.map((name) => [name, new Set()]))
  for (const { file, target } of imports)
    if (floorOf(file) !== floorOf(target)) arrows.get(floorOf(file))?.add(floorOf(target))
  const sections = actorFloors.flatMap(([name, purpose, folders]) => {
    const targets = floorNames.filter((other) => arrows.get(name)?.has(other)).map((other) => `\`${other}\``)
    return [
      `## \`actors/${name}\``,
      "",
      `For ${purpose}.${targets.length > 0 ? ` Imports from ${targets.join(", ")}.` : ""}`,
      "",
      "| folder | purpose |",
      "|---|---|",
      ...Object.entries(folders).map(([folder, use]) => `| \`${folder}\` | ${use} |`),
      ""
    ]
  })
  return [
    "# The floors of `actors/`",
    "",
    "Printed by `npm run docs:actors` from `test/support/ActorFolders.ts`; a test compares the page with the code. A file imports only",
    "from its own floor and from floors above it on this page.",
    "",
    ...sections
  ].join("\n")
}
