import type { RpcGroup } from "effect/rpc"
import type { BlobKind } from "../../schema/agent/Blob.ts"
import type { AgentProtocol } from "../../schema/agent/AgentProtocol.ts"

/**
 * The occasion on which a message is sent.
 * - `begin`: an agent enrols and starts its session
 * - `plan`, `apply`, `drift`: the agent executes this Run for a Capsule with a source build
 * - `handIn`: the Capsule was released while the agent was working
 * - `decline`: the agent receives an offer that its server has not signed
 */
export type Occasion = "begin" | "plan" | "apply" | "drift" | "handIn" | "decline"

type Message = RpcGroup.Rpcs<typeof AgentProtocol>["_tag"]
type Fetched = "snapshot" | "build" | "state" | "plan_file"
export type Said = Message | `GET ${Fetched}` | `PUT ${Exclude<BlobKind, "snapshot">}`

/**
 * Every message and transfer, with the occasion on which a fault interrupts it. If a message is missing, the code does not
 * compile.
 */
export const occasions: Readonly<Record<Said, Occasion>> = {
  Enrol: "begin",
  Challenge: "begin",
  Hello: "begin",
  Next: "plan",
  Accept: "apply",
  Decline: "decline",
  Start: "apply",
  Renew: "apply",
  Report: "apply",
  Checkpoint: "apply",
  Result: "apply",
  HandIn: "handIn",
  "GET snapshot": "plan",
  "GET build": "apply",
  "GET state": "drift",
  "GET plan_file": "apply",
  "PUT build": "plan",
  "PUT plan_file": "plan",
  "PUT state": "apply",
  "PUT outcome": "apply",
  "PUT left_over": "handIn"
}

/** Files that are sent within messages if both the server and the agent support such files. */
const carried: ReadonlySet<Said> = new Set([
  "GET state",
  "GET plan_file",
  "PUT plan_file",
  "PUT state",
  "PUT outcome"
] satisfies ReadonlyArray<Said>)

/** Returns true if the message is sent only when the server or the agent is from the previous release. */
export const isOfBefore = (message: Said): boolean => carried.has(message)

const isSaid = (name: string): name is Said => Object.hasOwn(occasions, name)

export const everySaid: ReadonlyArray<Said> = Object.keys(occasions).filter(isSaid)
