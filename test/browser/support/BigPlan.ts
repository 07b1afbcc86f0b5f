import { change } from "./records/PlanChanges.ts"
import { reviewRun } from "./records/Runs.ts"
import { newWorld, type World } from "./routes/World.ts"

/** Returns a policy of about a megabyte, in which one statement changes. */
const policyOf = (statements: number, effect: "Allow" | "Deny") =>
  JSON.stringify({
    Version: "2012-10-17",
    Statement: Array.from({ length: statements }, (_, index) => ({
      Sid: `Service${index}`,
      Effect: index === Math.floor(statements / 2) ? effect : "Allow",
      Principal: { AWS: `arn:aws:iam::481302776120:role/service-${index}` },
      Action: ["s3:GetObject", "s3:GetObjectVersion", "s3:ListBucket"],
      Resource: `arn:aws:s3:::acme-exports-of-the-service-number-${index}/*`
    }))
  })

export const statementsOfBigPolicy = 4000

/**
 * Creates a world with a plan that awaits review and has this many updates. `policy` adds an update to a one-megabyte policy
 * before the other updates.
 */
export const worldOfPlan = (resources: number, policy: boolean): World => {
  const world = newWorld()
  const updates = Array.from({ length: resources }, (_, index) =>
    change(
      `module.network.aws_instance.web[${index}]`,
      ["update"],
      [
        { name: "instance_type", before: "m7g.large", after: "m7g.xlarge" },
        {
          name: "user_data",
          before: `#!/bin/sh\nexec web --port ${index}\n`,
          after: `#!/bin/sh\nexec web --port 80${index}\n`
        },
        { name: "public_ip", unknown: true }
      ]
    )
  )
  const large = change(
    "aws_s3_bucket_policy.large",
    ["update"],
    [
      {
        name: "policy",
        before: policyOf(statementsOfBigPolicy, "Allow"),
        after: policyOf(statementsOfBigPolicy, "Deny")
      }
    ]
  )
  world.runs = world.runs.map((run) =>
    run.id === reviewRun
      ? {
          ...run,
          resourceChanges: policy ? [large, ...updates] : updates,
          planSummary: { add: 0, change: resources + (policy ? 1 : 0), destroy: 0, replace: 0, import: 0, forget: 0 }
        }
      : run
  )
  return world
}
