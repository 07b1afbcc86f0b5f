import { Effect } from "effect"
import { HttpApiClient } from "effect/http-api"
import type { HttpClient } from "effect/http"
import { SvcApi } from "../../schema/api/SvcApi.ts"

/** One method for each route, grouped. The named interface keeps declarations and editor hover text short. */
export interface SvcClientShape extends HttpApiClient.ForApi<typeof SvcApi> {}

export interface GroupOptions {
  readonly baseUrl: string
  readonly httpClient: HttpClient.HttpClient
  readonly transformResponse: (
    effect: Effect.Effect<unknown, unknown, unknown>
  ) => Effect.Effect<unknown, unknown, unknown>
}

/**
 * Builds the methods of an API group when the group is first used. Building all methods, with the decoders of every
 * response, would take a quarter of the time of a command that calls only one method.
 */
export const clientGroups = (options: GroupOptions): SvcClientShape => {
  const group = <const Name extends keyof SvcClientShape>(name: Name) => ({
    name,
    methods: HttpApiClient.group(SvcApi, { ...options, group: name })
  })
  // Runs the build synchronously. This is possible because the Effect that the library returns needs no services.
  const built = <A>(client: SvcClientShape, { methods, name }: { name: string; methods: Effect.Effect<A> }): A => {
    const value = Effect.runSync(methods)
    Object.defineProperty(client, name, { value, enumerable: true })
    return value
  }
  return {
    get accountTokens() {
      return built(this, group("accountTokens"))
    },
    get actionConfirmations() {
      return built(this, group("actionConfirmations"))
    },
    get agentPools() {
      return built(this, group("agentPools"))
    },
    get approvals() {
      return built(this, group("approvals"))
    },
    get audit() {
      return built(this, group("audit"))
    },
    get backupImports() {
      return built(this, group("backupImports"))
    },
    get backups() {
      return built(this, group("backups"))
    },
    get capsules() {
      return built(this, group("capsules"))
    },
    get changeApprovals() {
      return built(this, group("changeApprovals"))
    },
    get comments() {
      return built(this, group("comments"))
    },
    get connections() {
      return built(this, group("connections"))
    },
    get dashboard() {
      return built(this, group("dashboard"))
    },
    get discovery() {
      return built(this, group("discovery"))
    },
    get exports() {
      return built(this, group("exports"))
    },
    get installPlans() {
      return built(this, group("installPlans"))
    },
    get invitations() {
      return built(this, group("invitations"))
    },
    get leftOverStates() {
      return built(this, group("leftOverStates"))
    },
    get members() {
      return built(this, group("members"))
    },
    get notices() {
      return built(this, group("notices"))
    },
    get revisionPlans() {
      return built(this, group("revisionPlans"))
    },
    get pullRequests() {
      return built(this, group("pullRequests"))
    },
    get runs() {
      return built(this, group("runs"))
    },
    get sources() {
      return built(this, group("sources"))
    },
    get stateResources() {
      return built(this, group("stateResources"))
    },
    get stateUploads() {
      return built(this, group("stateUploads"))
    },
    get teams() {
      return built(this, group("teams"))
    },
    get workspaces() {
      return built(this, group("workspaces"))
    }
  }
}
