import { readdirSync, readFileSync } from "node:fs"
import { dirname, join, normalize, relative, sep } from "node:path"

/**
 * The folders in `actors/`, lowest first, each with its purpose. A folder imports only from folders listed before it; this list
 * is the only place that defines the order. `docs/actors.md` is generated from it.
 */
export const actorFolders: ReadonlyArray<readonly [name: string, purpose: string]> = [
  [
    "",
    "ids, commands and the client of an actor; and `Runtime`, which composes everything and is imported by nothing here"
  ],
  ["database", "transactions, reads, notices of commits"],
  ["due-work", "marks of work that is to be done later, and the follower that does it"],
  ["vault", "sealing, keys, integrity of sealed columns"],
  ["paging", "signed cursors and pages of rows"],
  ["audit", "the audit trail"],
  ["idempotency", "receipts of repeatable creates"],
  ["credential", "what a bearer secret looks like, and who presents it"],
  ["workspace", "Workspaces, Projects, memberships, the switch of automation"],
  ["run", "the ledger of Runs: row, lifecycle, journal, logs, streams, cancels"],
  ["build", "archives of built modules"],
  ["state", "StateVersions, checkpoints, backups"],
  ["source", "Sources, their lanes, snapshots and findings as rows"],
  ["configuration", "install configurations: compiled, stored, governed by the operator's base configurations"],
  ["authority", "the authoritative row of a Capsule: fence, guard, pins"],
  ["consumption", "Outputs that are offered, shared and consumed"],
  ["staleness", "why a Capsule is stale, and which commits concern it"],
  ["interface", "Interfaces of Capsules and their bindings"],
  ["identity", "the OIDC issuer: clients, grants, codes, tokens, keys"],
  ["mail", "mails to people: their texts, the queue, and the way to the mail server"],
  ["account", "people: sign-in, sessions, passkeys, personal access tokens"],
  ["member", "people in a Workspace: invitations, roles, suspension"],
  ["team", "teams of a Workspace, and the roles that they add"],
  ["approval", "rules of approval, who approved a plan, and whether it may be applied"],
  ["delivery", "values that the service hands to a module: endpoints, clients, generated secrets"],
  ["connection", "Connections: credentials, origins, use, rotation, OAuth helpers"],
  ["git-fetch", "which Git Connection a fetch may use, and the fetch of a lane"],
  ["succession", "successors of configurations, and plans that they void"],
  ["pool", "pools of agents: enrolment, sessions, and which agent can execute a Run"],
  ["queue", "which Run goes next: one pure decision, its rows and its words"],
  ["run-group", "groups of Runs in waves"],
  ["dependency", "dependencies between Capsules"],
  ["output-share", "Outputs shared across Workspaces"],
  ["needs", "what of a Workspace needs a person, read from everybody's rows"],
  ["execution", "what happens while a Run executes, settles or is recovered"],
  ["agent", "what agents are given and what they report: offers, leases, blobs, results"],
  ["run-commands", "what people may do to a Run"],
  ["capsule", "what people, lanes and groups may do to a Capsule"],
  ["capsule-export", "what a Capsule consists of, handed to its owner"],
  ["adoption", "states of infrastructure that exists already: received, checked, taken over"],
  ["source-commands", "what people, schedules and webhooks may do to a Source"],
  ["revision-plan", "plans of another revision"],
  ["install-plan", "plans that make a new Capsule"],
  ["handoff", "setup tickets and the return to another site"],
  ["restore", "the operator's review after a restore"],
  ["retention", "what is removed when its time is over, and what keeps it"],
  ["cleanup", "what is done in the background and has no other owner"]
]

/** The composition, above every folder. */
const composition = "Runtime.ts"

export interface FolderImport {
  readonly from: string
  readonly to: string
  readonly file: string
  readonly target: string
}

/** Every import from one folder in `actors/` into another. */
export const folderImports = (root: string): ReadonlyArray<FolderImport> => {
  const room = join(root, "actors")
  const folderOf = (path: string) => relative(room, dirname(path)).split(sep).join("/")
  return readdirSync(room, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts") && name !== composition)
    .flatMap((name) => {
      const file = join(room, name)
      const specifiers = readFileSync(file, "utf8").matchAll(/(?:\bfrom|\bimport)\s*\(?\s*["'](\.[^"'\n]+)["']/g)
      return [...specifiers].flatMap(([, specifier]) => {
        const target = normalize(join(dirname(file), specifier ?? ""))
        const inside = !relative(room, target).startsWith("..")
        return inside && folderOf(file) !== folderOf(target)
          ? [{ from: folderOf(file), to: folderOf(target), file: name, target: relative(room, target) }]
          : []
      })
    })
}

const order = new Map(actorFolders.map(([name], index) => [name, index]))

/** Imports from a folder that is listed later, or not listed at all. */
export const upwardImports = (imports: ReadonlyArray<FolderImport>): ReadonlyArray<string> =>
  imports
    .filter(({ from, to }) => !((order.get(to) ?? Infinity) < (order.get(from) ?? -1)))
    .map(({ file, target }) => `actors/${file} -> actors/${target}`)

const reachedBy = (start: string, arrows: ReadonlyMap<string, ReadonlySet<string>>): ReadonlySet<string> => {
  const reached = new Set<string>()
  const visit = (name: string): void => {
    for (const next of arrows.get(name) ?? []) {
      if (reached.has(next)) continue
      reached.add(next)
      visit(next)
    }
  }
  visit(start)
  return reached
}

/** Generates the page `docs/actors.md`. The diagram omits an arrow if a longer path leads to the same folder. */
export const actorsPage = (imports: ReadonlyArray<FolderImport>): string => {
  const named = imports.filter(({ from, to }) => from !== "" && to !== "")
  const arrows = new Map<string, Set<string>>(actorFolders.map(([name]) => [name, new Set()]))
  for (const { from, to } of named) arrows.get(from)?.add(to)
  const drawn = [...arrows].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reachedBy(other, arrows).has(to)))
      .map((to) => `  ${from} --> ${to}`)
  )
  const rows = actorFolders.map(([name, purpose]) => {
    const targets = [...(arrows.get(name) ?? [])].toSorted().map((to) => `\`${to}\``)
    return `| \`actors/${name}\` | ${purpose} | ${targets.join(", ")} |`
  })
  return [
    "# The folders of `actors/`",
    "",
    "Printed by `npm run docs:actors` from `test/support/ActorFolders.ts`; a test compares it with the code. A folder imports only from",
    "folders above it in this table.",
    "",
    "| folder | what it is for | imports from |",
    "|---|---|---|",
    ...rows,
    "",
    "## Picture",
    "",
    "An arrow is left out where a longer way leads to the same folder.",
    "",
    "```mermaid",
    "flowchart TD",
    ...drawn,
    "```",
    ""
  ].join("\n")
}
