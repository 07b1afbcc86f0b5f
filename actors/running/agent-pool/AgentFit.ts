import { Option } from "effect"
import type { AgentFacts, Platform } from "../../../schema/agent/AgentIdentity.ts"
import type { ProvidedName } from "../../../schema/agent/ProvidedName.ts"
import { SandboxLevel, type ToolIdentity } from "../../../schema/records/Run.ts"

/**
 * A Run's requirements for its agent.
 * - `tool`: the tool's name, and its version if only one is possible
 * - `platform`: for an apply, the platform of its plan
 * - `isolation`: the lowest level that both the pool and the execution profile accept
 * - `provided`: names of the pool credentials that its Connections use
 * - `holders`: for an apply, the agents that have the credentials of its plan, if there are any
 * - `capability`: the feature that the agent must support
 * - `heldUntil`: for an apply after a restore, the earliest time at which it may start
 */
export interface AgentNeed {
  readonly tool: { readonly name?: ToolIdentity["name"] | undefined; readonly version?: string | undefined }
  readonly platform?: Platform | undefined
  readonly isolation?: SandboxLevel | undefined
  readonly provided?: ReadonlyArray<ProvidedName> | undefined
  readonly holders?: ReadonlyArray<string> | undefined
  readonly capability?: string | undefined
  readonly heldUntil?: string | undefined
}

const rank = (level: SandboxLevel): number => SandboxLevel.literals.indexOf(level)

/** Returns the stricter of two minimum levels. */
export const stricter = (one: SandboxLevel | undefined, other: SandboxLevel | undefined): SandboxLevel | undefined => {
  if (one === undefined || other === undefined) return one ?? other
  return rank(one) <= rank(other) ? one : other
}

const parts = (version: string): ReadonlyArray<number> => version.split(/[.-]/).slice(0, 3).map(Number)

const newerFirst = (one: ToolIdentity, other: ToolIdentity): number => {
  const [a, b] = [parts(one.version), parts(other.version)]
  for (const at of [0, 1, 2]) {
    const difference = (b[at] ?? 0) - (a[at] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** Returns the agent's newest suitable tool. Prefers OpenTofu if both tools are suitable. */
export const toolFor = ({ tools }: Pick<AgentFacts, "tools">, { tool }: AgentNeed): Option.Option<ToolIdentity> => {
  const fitting = tools
    .filter(({ name, version }) => (tool.name ?? name) === name && (tool.version ?? version) === version)
    .toSorted((a, b) => a.name.localeCompare(b.name) || newerFirst(a, b))
  return Option.fromUndefinedOr(fitting[0])
}

const named = ({ name, version }: AgentNeed["tool"]): string =>
  [name === "opentofu" ? "OpenTofu" : name === "terraform" ? "Terraform" : "a tool", version]
    .filter((word) => word !== undefined)
    .join(" ")

/** A requirement that an agent does not meet, with the required value. */
export interface Lack {
  readonly property: "leases" | "tool" | "platform" | "isolation" | "credentials" | "capability"
  readonly needed: string
}

const credentialsInWords = ({ holders, provided = [] }: AgentNeed): string =>
  [...provided.slice(0, -1).map((name) => `${name},`), ...provided.slice(-1)]
    .concat(holders === undefined ? [] : ["that its plan was made with"])
    .join(" ")

/** Returns the first requirement that the agent does not meet, or `undefined` if it can execute the Run. */
export const lackOf = (
  facts: Pick<AgentFacts, "tools" | "platform" | "isolation" | "provided" | "capabilities"> & {
    readonly id?: string | undefined
  },
  need: AgentNeed
): Lack | undefined => {
  if (need.heldUntil !== undefined) return { property: "leases", needed: need.heldUntil }
  if (Option.isNone(toolFor(facts, need))) return { property: "tool", needed: named(need.tool) }
  if (need.platform !== undefined && facts.platform !== need.platform) {
    return { property: "platform", needed: need.platform }
  }
  if (need.isolation !== undefined && rank(facts.isolation) > rank(need.isolation)) {
    return { property: "isolation", needed: need.isolation }
  }
  if (need.capability !== undefined && !facts.capabilities.includes(need.capability)) {
    return { property: "capability", needed: need.capability }
  }
  const missing = need.provided?.find((name) => facts.provided?.includes(name) !== true)
  if (missing !== undefined) return { property: "credentials", needed: missing }
  const others = need.holders !== undefined && !need.holders.some((id) => id === facts.id)
  return others ? { property: "credentials", needed: credentialsInWords(need) } : undefined
}

/** Describes the Run's requirements for the message shown when no agent meets them. */
export const needInWords = (need: AgentNeed): string =>
  [
    named(need.tool),
    ...(need.platform === undefined ? [] : [`on ${need.platform}`]),
    ...(need.isolation === undefined ? [] : [`with at least the isolation ${need.isolation}`]),
    ...(need.capability === undefined ? [] : [`and a release with the capability ${need.capability}`]),
    ...(credentialsInWords(need) === "" ? [] : [`with the credentials ${credentialsInWords(need)}`])
  ].join(" ")
