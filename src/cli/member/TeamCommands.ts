import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { NewTeam } from "../../../schema/api/TeamsApi.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import type { Team, TeamGrant } from "../../../schema/records/Team.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText } from "../remote/Rows.ts"
import { projectNamed, workspaceNamed } from "../remote/Selection.ts"
import { terminalText } from "../remote/TerminalText.ts"
import { memberNamed, memberNames } from "./MemberCommands.ts"
import { teamNamed, teamsOf } from "./Teams.ts"

const teamArgument = Argument.String("team").pipe(Argument.withDescription("Name of the team, or its id"))

const grantText = ({ environment, projectId, role }: TeamGrant) =>
  `${role} in ${projectId ?? "every Project"}/${environment ?? "every environment"}`

const teamsText = Effect.fnUntraced(function* (teams: ReadonlyArray<Team>, workspaceId: WorkspaceId) {
  const names = yield* memberNames(workspaceId)
  return rowsText(
    ["name", "members", "grants", "id"],
    teams.map((team) => [
      team.name,
      team.members.map((subject) => terminalText(names.get(subject) ?? subject)).join(", "),
      team.grants.map(grantText).join(", "),
      team.id
    ])
  )
})

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("team list")((given) =>
    Effect.gen(function* () {
      const { handle, id } = yield* workspaceNamed(given.workspace)
      const teams = yield* teamsOf(id)
      if (given.json) return yield* print(true, { teams }, "")
      yield* print(
        false,
        teams,
        teams.length === 0 ? `${handle} has no team. Make one with \`svc team create\`.` : yield* teamsText(teams, id)
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the teams of a Workspace, their members and the roles they grant"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc team list", description: "All Outputs" }])
)

/** Prints a team after a change. */
const shown = Effect.fnUntraced(function* (json: boolean, team: Team) {
  if (json) return yield* print(true, { team }, "")
  yield* print(false, team, yield* teamsText([team], team.workspaceId))
})

const createCommand = Command.make(
  "create",
  {
    ...workspaceFlags,
    name: Argument.String("name").pipe(
      Argument.withDescription("Name of the new team"),
      Argument.withSchema(NewTeam.fields.name)
    )
  },
  Effect.fn("team create")((given) =>
    Effect.gen(function* () {
      const { teams } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const { team } = yield* teams.create({ params: { workspaceId }, payload: { name: given.name } })
      yield* shown(given.json, team)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Create a team; owners only"),
  Command.withExamples([{ command: "svc team create platform", description: "Without members yet" }])
)

const deleteCommand = Command.make(
  "delete",
  { ...workspaceFlags, yes: yesFlag, team: teamArgument },
  Effect.fn("team delete")((given) =>
    Effect.gen(function* () {
      const { teams } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const { id, members, name } = yield* teamNamed(given.team, workspaceId)
      yield* agreed(
        given,
        `${members.length === 1 ? "1 member loses" : `${members.length} members lose`} what ${name} grants.`
      )
      yield* teams.remove({ params: { workspaceId, teamId: id } })
      yield* print(given.json, { deleted: id }, `The team ${name} is removed. Its members stay in the Workspace.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Delete a team and its roles; its members stay in the Workspace; owners only"),
  Command.withExamples([{ command: "svc team delete platform --yes", description: "Without a terminal" }])
)

/** Creates a command that adds a person to a team or removes a person from a team. */
const memberCommand = (verb: "add" | "remove", description: string, example: string) =>
  Command.make(
    verb,
    {
      ...workspaceFlags,
      team: teamArgument,
      member: Argument.String("member").pipe(
        Argument.withDescription("Email address, or the subject from `svc member list`")
      )
    },
    Effect.fn(`team ${verb}`)((given) =>
      Effect.gen(function* () {
        const { teams } = yield* SvcClient
        const { id: workspaceId } = yield* workspaceNamed(given.workspace)
        const { id, members } = yield* teamNamed(given.team, workspaceId)
        const { subject } = yield* memberNamed(workspaceId, given.member)
        const others = members.filter((one) => one !== subject)
        const { team } = yield* teams.update({
          params: { workspaceId, teamId: id },
          payload: { members: verb === "add" ? [...others, subject] : others }
        })
        yield* shown(given.json, team)
      }).pipe(onServer(given))
    )
  ).pipe(
    Command.withDescription(description),
    Command.withExamples([{ command: `svc team ${verb} platform ada@example.test`, description: example }])
  )

const addCommand = memberCommand(
  "add",
  "Add a member of the Workspace to a team; owners only",
  "Ada gets the team's roles"
)
const removeCommand = memberCommand("remove", "Remove a member from a team; owners only", "Ada keeps only her own role")

const grantCommand = Command.make(
  "grant",
  {
    ...workspaceFlags,
    project: Flag.optional(
      Flag.String("project").pipe(Flag.withDescription("Only in this Project"), Flag.withMetavar("name"))
    ),
    environment: Flag.optional(
      Flag.String("environment").pipe(Flag.withDescription("Only in this environment"), Flag.withMetavar("name"))
    ),
    team: teamArgument,
    role: Argument.Literals("role", ["viewer", "member", "admin", "none"]).pipe(
      Argument.withDescription("The members' role there; none removes it")
    )
  },
  Effect.fn("team grant")((given) =>
    Effect.gen(function* () {
      const { teams } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const { grants, id } = yield* teamNamed(given.team, workspaceId)
      const place = {
        ...(Option.isSome(given.project)
          ? { projectId: (yield* projectNamed(given.project.value, workspaceId)).id }
          : {}),
        ...Option.match(given.environment, { onNone: () => ({}), onSome: (environment) => ({ environment }) })
      }
      const { environment, projectId }: Omit<TeamGrant, "role"> = place
      const others = grants.filter((one) => one.projectId !== projectId || one.environment !== environment)
      const { team } = yield* teams.update({
        params: { workspaceId, teamId: id },
        payload: { grants: given.role === "none" ? others : [...others, { ...place, role: given.role }] }
      })
      yield* shown(given.json, team)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Give the members of a team a role in a Project and environment, or remove it; owners only"),
  Command.withExamples([
    {
      command: "svc team grant platform admin --environment production",
      description: "Its members can approve production"
    },
    { command: "svc team grant platform none --environment production", description: "They no longer can" }
  ])
)

export const teamCommand = Command.make("team").pipe(
  Command.withDescription("Teams of a Workspace, and the roles they grant"),
  Command.withSubcommands([listCommand, createCommand, addCommand, removeCommand, grantCommand, deleteCommand])
)
