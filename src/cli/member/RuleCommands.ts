import { intFlag } from "../ValueFlags.ts"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type ApprovalRule, ApproverRole, CarryOver, mostApprovers } from "../../../schema/records/Approval.ts"
import type { WorkspaceId } from "../../../schema/records/Ids.ts"
import { SvcClient } from "../../client/SvcClient.ts"
import { print } from "../Output.ts"
import { agreed, yesFlag } from "../remote/Confirmation.ts"
import { allPages } from "../remote/Pages.ts"
import { onServer } from "../remote/Remote.ts"
import { workspaceFlags } from "../remote/RemoteFlags.ts"
import { rowsText } from "../remote/Rows.ts"
import { onlyNamed, projectNamed, workspaceNamed } from "../remote/Selection.ts"
import { teamNamed, teamsOf } from "./Teams.ts"

const rulesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  const { approvals } = yield* SvcClient
  return yield* allPages((query) =>
    Effect.map(approvals.rules({ params: { workspaceId }, query }), ({ approvalRules: items, nextCursor }) => ({
      items,
      nextCursor
    }))
  )
})

const countsText = ({ automationCounts, commitAuthorCounts, planAuthorCounts }: ApprovalRule) =>
  [
    ...(planAuthorCounts ? ["the plan's author"] : []),
    ...(commitAuthorCounts ? ["the commit's author"] : []),
    ...(automationCounts ? ["automation"] : [])
  ].join(", ")

const rulesText = (rules: ReadonlyArray<ApprovalRule>, teamNames: ReadonlyMap<string, string>) =>
  rowsText(
    ["approvers", "role", "team", "project", "environment", "also counts", "carry-over", "id"],
    rules.map((rule) => [
      String(rule.approvers),
      rule.role,
      rule.teamId === undefined ? "any" : (teamNames.get(rule.teamId) ?? rule.teamId),
      rule.projectId ?? "all",
      rule.environment ?? "all",
      countsText(rule),
      rule.carryOver,
      rule.id
    ])
  )

const namesOf = Effect.fnUntraced(function* (workspaceId: WorkspaceId) {
  return new Map((yield* teamsOf(workspaceId)).map(({ id, name }) => [id, name]))
})

const listCommand = Command.make(
  "list",
  workspaceFlags,
  Effect.fn("rule list")((given) =>
    Effect.gen(function* () {
      const { id } = yield* workspaceNamed(given.workspace)
      const approvalRules = yield* rulesOf(id)
      if (given.json) return yield* print(true, { approvalRules }, "")
      yield* print(
        false,
        approvalRules,
        approvalRules.length === 0
          ? "There is no rule: one approval by an admin or owner is enough. Make one with `svc rule add`."
          : rulesText(approvalRules, yield* namesOf(id))
      )
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("List the approval rules: the number of approvers for each place"),
  Command.withAlias("ls"),
  Command.withExamples([{ command: "svc rule list", description: "Every rule that matches a Capsule has to be met" }])
)

const counting = (name: string, description: string) =>
  Flag.Boolean(name).pipe(Flag.withDescription(description), Flag.withDefault(false))

const named = (name: string, description: string) =>
  Flag.optional(Flag.String(name).pipe(Flag.withDescription(description), Flag.withMetavar("name")))

const addCommand = Command.make(
  "add",
  {
    ...workspaceFlags,
    approvers: intFlag("approvers", 1, mostApprovers).pipe(
      Flag.withDescription(`Number of required approvers, 1 to ${mostApprovers}`),
      Flag.withDefault(1)
    ),
    role: Flag.optional(
      Flag.Literals("role", ApproverRole.literals).pipe(
        Flag.withDescription("The lowest role that counts; default: admin")
      )
    ),
    team: named("team", "Only members of this team count"),
    project: named("project", "Only for Capsules of this Project"),
    environment: named("environment", "Only for Capsules in this environment"),
    planAuthor: counting("plan-author-counts", "An approval by the plan's author counts"),
    commitAuthor: counting("commit-author-counts", "An approval by the commit's author counts"),
    automation: counting("automation-counts", "Auto-update and automations count"),
    carryOver: Flag.optional(
      Flag.Literals("carry-over", CarryOver.literals).pipe(
        Flag.withDescription(
          "Whether the approval of a change in a pull request approves the same change after the merge; else off"
        )
      )
    )
  },
  Effect.fn("rule add")((given) =>
    Effect.gen(function* () {
      const { approvals } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const team = Option.isSome(given.team) ? { teamId: (yield* teamNamed(given.team.value, workspaceId)).id } : {}
      const project = Option.isSome(given.project)
        ? { projectId: (yield* projectNamed(given.project.value, workspaceId)).id }
        : {}
      const { approvalRule } = yield* approvals.createRule({
        params: { workspaceId },
        payload: {
          approvers: given.approvers,
          ...Option.match(given.role, { onNone: () => ({}), onSome: (role) => ({ role }) }),
          ...Option.match(given.environment, { onNone: () => ({}), onSome: (environment) => ({ environment }) }),
          ...team,
          ...project,
          planAuthorCounts: given.planAuthor,
          commitAuthorCounts: given.commitAuthor,
          automationCounts: given.automation,
          ...Option.match(given.carryOver, { onNone: () => ({}), onSome: (carryOver) => ({ carryOver }) })
        }
      })
      if (given.json) return yield* print(true, { approvalRule }, "")
      yield* print(false, approvalRule, rulesText([approvalRule], yield* namesOf(workspaceId)))
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Add an approval rule; owners only"),
  Command.withExamples([
    {
      command: "svc rule add --environment production --approvers 2 --team platform",
      description: "Two people of a team approve changes to production"
    }
  ])
)

const removeCommand = Command.make(
  "remove",
  {
    ...workspaceFlags,
    yes: yesFlag,
    rule: Argument.String("rule").pipe(Argument.withDescription("Id of the rule, from `svc rule list`"))
  },
  Effect.fn("rule remove")((given) =>
    Effect.gen(function* () {
      const { approvals } = yield* SvcClient
      const { id: workspaceId } = yield* workspaceNamed(given.workspace)
      const words = { what: "rule", several: "rules", list: "svc rule list" }
      yield* onlyNamed(yield* rulesOf(workspaceId), ({ id }) => id, given.rule, words)
      yield* agreed(given, "Waiting plans no longer need the approvals that this rule requires.")
      yield* approvals.removeRule({ params: { workspaceId, ruleId: given.rule } })
      yield* print(given.json, { removed: given.rule }, `The rule ${given.rule} is removed.`)
    }).pipe(onServer(given))
  )
).pipe(
  Command.withDescription("Remove an approval rule; owners only"),
  Command.withAlias("rm"),
  Command.withExamples([{ command: "svc rule remove apr_... --yes", description: "Without a terminal" }])
)

export const ruleCommand = Command.make("rule").pipe(
  Command.withDescription("Approval rules"),
  Command.withSubcommands([listCommand, addCommand, removeCommand])
)
