import type { Mutant } from "./Mutant.ts"

const seenFile = "actors/ledger/pull-request/SeenPullRequests.ts"
const seenTest = "test/actors/ledger/pull-request/SeenPullRequests.test.ts"
const plansFile = "actors/commands/pull-request/HeadPlans.ts"
const plansTest = "test/actors/commands/pull-request/HeadPlans.test.ts"
const commentsFile = "actors/commands/pull-request-report/CommentLooks.ts"
const reporterFile = "actors/commands/pull-request-report/PullRequestReporter.ts"
const reporterTest = "test/actors/commands/pull-request-report/PullRequestReporter.test.ts"
const sharedTest = "test/actors/commands/pull-request-report/SharedRepository.test.ts"
const commentFile = "actors/commands/pull-request-report/PullRequestComment.ts"
const commentTest = "test/actors/commands/pull-request-report/PullRequestComment.test.ts"
const groupsFile = "actors/ledger/pull-request/MergeGroups.ts"
const groupsTest = "test/actors/ledger/pull-request/MergeGroups.test.ts"
const queueTest = "test/actors/commands/pull-request/MergeQueue.test.ts"
const forgeTest = "test/runner/forge/ForgeLive.test.ts"
const reviewFile = "runner/scan/ModuleReviewer.ts"
const reviewTest = "test/runner/scan/ModuleReviewer.test.ts"

/**
 * Mutants of decisions about a pull request: the owner of its head, the people who may plan it, and the recognition of svc's
 * comment.
 */
export const pullRequestMutants: ReadonlyArray<Mutant> = [
  {
    name: "pull requests: an unknown repository counts as a fork",
    file: "schema/records/Forge.ts",
    text: "pullRequest.headRepositoryId !== pullRequest.baseRepositoryId",
    broken: "pullRequest.headRepositoryId !== null && pullRequest.headRepositoryId !== pullRequest.baseRepositoryId",
    test: seenTest
  },
  {
    name: "pull requests: the base is the Source's repository",
    file: seenFile,
    text: "!isForeignHead(one) && one.baseRepositoryId === repositoryId",
    broken: "one.baseRepositoryId !== repositoryId || !isForeignHead(one)",
    test: seenTest
  },
  {
    name: "pull requests: the branch has the head that the forge reports",
    file: seenFile,
    text: "heads.branches.get(`refs/heads/${one.headRef}`) === one.headCommit",
    broken: "heads.branches.has(`refs/heads/${one.headRef}`)",
    test: seenTest
  },
  {
    name: "pull requests: without a forge, only a branch proves that a head is in the repository",
    file: seenFile,
    text: 'fork: branch === undefined ? "unknown" : "no"',
    broken: 'fork: "no"',
    test: seenTest
  },
  {
    name: "pull requests: a permission is for one commit",
    file: plansFile,
    text: "row.planned_commit === row.head_commit &&",
    broken: "row.planned_commit !== null &&",
    test: plansTest
  },
  {
    name: "pull requests: the rule of the Source allows plans",
    file: plansFile,
    text: 'if (source.pull_requests !== "own_branches") {',
    broken: 'if (source.pull_requests === "off") {',
    test: plansTest
  },
  {
    name: "pull requests: the limit of a Source's unfinished plans",
    file: "actors/commands/capsule/SpeculativePlans.ts",
    text: "if ((row?.plans ?? 0) < mostPlans) return",
    broken: "if ((row?.plans ?? 0) < mostPlans * mostPlans) return",
    test: "test/actors/commands/pull-request/ManyPullRequests.test.ts"
  },
  {
    name: "pull requests: a head's plan gives way in the only place",
    file: "actors/running/queue/QueueDecision.ts",
    text: "(limit === 1 && headPlan !== undefined)",
    broken: "(limit === 0 && headPlan !== undefined)",
    test: "test/actors/commands/pull-request/OnlyPlace.test.ts"
  },
  {
    name: "pull requests: a head's plan continues while there are several places",
    file: "actors/running/queue/QueueDecision.ts",
    text: "(limit === 1 && headPlan !== undefined)",
    broken: "(limit >= 1 && headPlan !== undefined)",
    test: "test/actors/running/queue/QueueDecision.test.ts"
  },
  {
    name: "pull requests: a plan that gave way is made again",
    file: plansFile,
    text: "if (stopped.length === 0) return row",
    broken: "if (stopped.length >= 0) return row",
    test: "test/actors/commands/pull-request/OnlyPlace.test.ts"
  },
  {
    name: "pull requests: fetches of heads come last",
    file: "schema/tables/RunTables.ts",
    text: "OR (${of}type = 'source_sync' AND COALESCE",
    broken: "OR (${of}type = 'none' AND COALESCE",
    test: "test/actors/running/queue/RunQueue.test.ts"
  },
  {
    name: "pull requests: a head from elsewhere is not planned",
    file: plansFile,
    text: 'if (row.fork !== "no") {',
    broken: 'if (row.fork === "yes") {',
    test: plansTest
  },
  {
    name: "pull requests: /svc plan only by people who may push",
    file: commentsFile,
    text: "if (yield* mayWrite(access, repository, author)) numbers",
    broken: "if (author.login !== mayWrite.name) numbers",
    test: reporterTest
  },
  {
    name: "pull requests: /svc plan is the whole comment",
    file: commentsFile,
    text: "body.trim() !== planAgain",
    broken: "!body.includes(planAgain)",
    test: reporterTest
  },
  {
    name: "pull requests: a comment is obeyed once",
    file: commentsFile,
    text: "BigInt(remark.id) > BigInt(look.last_comment) &&",
    broken: "",
    test: reporterTest
  },
  {
    name: "reports: the author of a comment on GitHub",
    file: "runner/forge/GitHub.ts",
    text: "accountOf(comment.user).id === author.id && (comment",
    broken: "(comment",
    test: forgeTest
  },
  {
    name: "reports: the author of a comment on GitLab",
    file: "runner/forge/GitLab.ts",
    text: "String(note.author.id) === author.id && note.body",
    broken: "note.body",
    test: forgeTest
  },
  {
    name: "reports: the author of a comment on Forgejo",
    file: "runner/forge/Forgejo.ts",
    text: "accountOf(user).id === author.id && body",
    broken: "body",
    test: forgeTest
  },
  {
    name: "reports: the marker of a comment",
    file: "runner/forge/Forgejo.ts",
    text: "=== author.id && body.includes(marker)",
    broken: "=== author.id && body.length >= marker.length",
    test: forgeTest
  },
  {
    name: "reports: svc looks for its comment before it writes another",
    file: reporterFile,
    text: "if (found === undefined) return (yield*",
    broken: 'if (found?.id !== "") return (yield*',
    test: reporterTest
  },
  {
    name: "reports: the repository is found by its id",
    file: reporterFile,
    text: "return id === null ? forge.repository",
    broken: 'return id !== "" ? forge.repository',
    test: reporterTest
  },
  {
    name: "reports: the comment of another account is removed",
    file: reporterFile,
    text: 'if (refusal === "forbidden") yield*',
    broken: 'if (refusal === "missing") yield*',
    test: reporterTest
  },
  {
    name: "reports: only the first row of a pull request is reported",
    file: reporterFile,
    text: "if (rows[0]?.id !== id) return yield* work.wake",
    broken: "if (rows[0]?.id === undefined) return yield* work.wake",
    test: sharedTest
  },
  {
    name: "reports: a comment that another Source wrote unrecorded is found",
    file: reporterFile,
    text: "if (comment_id !== null || connection_id === source.forge_connection_id) return comment_id",
    broken: 'if (comment_id !== "" || connection_id === source.forge_connection_id) return comment_id',
    test: sharedTest
  },
  {
    name: "reports: the status waits for a Source that has not seen the head",
    file: "actors/commands/pull-request-report/ReportFacts.ts",
    text: 'isLate: shown.state === "open" &&',
    broken: 'isLate: shown.state !== "open" &&',
    test: sharedTest
  },
  {
    name: "reports: a look makes other Sources of the repository look",
    file: "actors/ledger/pull-request/PullRequestStore.ts",
    text: "if (changed.some(({ isDue }) => isDue)) yield*",
    broken: "if (changed.length < 0) yield*",
    test: "test/actors/commands/pull-request/SharedLooks.test.ts"
  },
  {
    name: "reports: a change of a Source makes its reports due",
    file: "actors/commands/source/SourceActor.ts",
    text: "yield* markReportsOfSource(yield* SqlClient.SqlClient, id)",
    broken: "void markReportsOfSource",
    test: sharedTest
  },
  {
    name: "pull requests: lists count approvals by the rules of now",
    file: "actors/ledger/pull-request-report/CapsuleProgress.ts",
    text: "isApproved: row.run_id !== null && approved.has(row.run_id)",
    broken: "isApproved: row.run_id !== null && approved.size > 0",
    test: "test/actors/access/approval/ApprovedChanges.test.ts"
  },
  {
    name: "pull requests: lists count approvals by the rules of the Capsule's place",
    file: "actors/access/approval/ApprovedChanges.ts",
    text: "rules: rules.filter(bindsPlace(place)).map",
    broken: "rules: rules.map",
    test: "test/actors/access/approval/ApprovedChanges.test.ts"
  },
  {
    name: "reports: a rotated Connection makes reports due",
    file: "actors/ledger/pull-request-report/ReportMarks.ts",
    text: "WHERE b.connection_id = ${connectionId} AND",
    broken: "WHERE b.connection_id <> ${connectionId} AND",
    test: "test/actors/ledger/pull-request-report/ReportMarks.test.ts"
  },
  {
    name: "merge queues: a head from elsewhere needs a permission for its present commit",
    file: groupsFile,
    text: 'row.fork === "no" || row.planned_commit === row.head_commit',
    broken: 'row.fork === "no" || row.planned_commit !== null',
    test: groupsTest
  },
  {
    name: "merge queues: the history of a commit reaches its base",
    file: groupsFile,
    text: "row.base_commit === null || !history.includes(row.base_commit)",
    broken: "row.base_commit === null",
    test: groupsTest
  },
  {
    name: "merge queues: only approvals of the group count",
    file: "actors/running/carry-over/CarryOver.ts",
    text: "its.some((number) => group.includes(number))",
    broken: "its.length > 0 && group.length > 0",
    test: queueTest
  },
  {
    name: "merge queues: every difference but a turned-off carry-over counts",
    file: "actors/running/carry-over/CarryOver.ts",
    text: 'verdict.reasons.filter(({ code }) => code !== "off")',
    broken: 'verdict.reasons.filter(({ code }) => code === "approver")',
    test: queueTest
  },
  {
    name: "merge queues: the API compares with the approved changes",
    file: "actors/commands/pull-request/PullRequestReads.ts",
    text: "if (one.capsules === undefined || mergeGroup === undefined) return one",
    broken: "if (one.capsules === undefined || mergeGroup !== undefined) return one",
    test: queueTest
  },
  {
    name: "merge queues: a commit that svc may not plan fails",
    file: commentFile,
    text: 'mergeGroup !== undefined && capsules.some(({ verdict }) => verdict === "refused")',
    broken: "mergeGroup !== undefined && capsules.length < 0",
    test: commentTest
  },
  {
    name: "reports: a head that svc could not read is not successful",
    file: commentFile,
    text: 'if (unread !== undefined) return "pending"',
    broken: "void unread",
    test: commentTest
  },
  {
    name: "speculative plans: never approved",
    file: "actors/commands/run/ReviewDecisions.ts",
    text: 'if (isSpeculative(run)) return speculativeRefusal("approved")',
    broken: "void speculativeRefusal",
    test: "test/actors/commands/run/ReviewDecisions.test.ts"
  },
  {
    name: "speculative plans: never applied",
    file: "actors/ledger/capsule/ApplyObstacle.ts",
    text: 'if (isSpeculative(plan)) return speculativeRefusal("applied")',
    broken: "void isSpeculative",
    test: "test/actors/ledger/capsule/ApplyObstacle.test.ts"
  },
  {
    name: "static reviews: each provisioner of a resource counts",
    file: reviewFile,
    text: "`${key} ${nth}`",
    broken: "`${key}`",
    test: reviewTest
  },
  {
    name: "static reviews: a removed block may run code",
    file: reviewFile,
    text: 'case "removed":',
    broken: 'case "never removed":',
    test: reviewTest
  },
  {
    name: "static reviews: omitted code that runs is counted",
    file: reviewFile,
    text: "runsCode.more + beyond(runsCode.present)",
    broken: "runsCode.more",
    test: reviewTest
  },
  {
    name: "static reviews: calls of a module that svc cannot install are followed",
    file: reviewFile,
    text: "folders.add(called)",
    broken: "void called",
    test: reviewTest
  }
]
