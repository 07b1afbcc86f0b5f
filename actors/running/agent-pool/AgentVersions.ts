import { Context } from "effect"
import { type AgentFacts, agentProtocol } from "../../../schema/agent/AgentIdentity.ts"

/** The release of this server. If it is unknown, agents of any release may receive Runs. */
export const ServerRelease = Context.Reference<string | undefined>("svc/actors/running/agent-pool/ServerRelease", {
  defaultValue: () => undefined
})

interface Release {
  readonly major: number
  readonly minor: number
}

const releaseOf = (version: string): Release | undefined => {
  const [, major, minor] = /^(\d{1,6})\.(\d{1,6})\./.exec(version) ?? []
  return major === undefined || minor === undefined ? undefined : { major: Number(major), minor: Number(minor) }
}

/**
 * Returns true for the same minor version and the previous one. For the first minor version of a major version, any version
 * of the previous major version counts as the previous one.
 */
const isNear = (server: Release, agent: Release): boolean =>
  server.major === agent.major
    ? agent.minor === server.minor || agent.minor === server.minor - 1
    : server.minor === 0 && agent.major === server.major - 1

/**
 * The reason why agents of a release receive no new Runs, and how to fix this. `speaks` is true if such an agent may still
 * open a session, so that its current Runs can finish.
 */
export interface VersionProblem {
  readonly speaks: boolean
  readonly message: string
}

export const versionProblem = (
  server: string | undefined,
  { protocol, version }: Pick<AgentFacts, "protocol" | "version">
): VersionProblem | undefined => {
  if (protocol !== agentProtocol) {
    return {
      speaks: false,
      message: `This server speaks protocol ${agentProtocol}, and the agent (version ${version}) speaks ${protocol}. Install an agent of the server's version${server === undefined ? "" : `, ${server}`}.`
    }
  }
  if (server === undefined) return undefined
  const [own, other] = [releaseOf(server), releaseOf(version)]
  if (own !== undefined && other !== undefined && isNear(own, other)) return undefined
  return {
    speaks: true,
    message: `This server is of version ${server} and gives no Runs to an agent of version ${version}: it supports agents of the same and the previous minor version. Install svc ${server} on the agent's machine. Its current Runs continue.`
  }
}
