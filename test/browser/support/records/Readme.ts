import { type Answer, missing, ok } from "../routes/Answer.ts"
import { digest } from "./Seeds.ts"

export const readmeText = `# Service

[![Build status](https://pictures.acme.example/build.svg)](https://ci.acme.example/storefront)
[tests **![Coverage](https://pictures.acme.example/coverage.svg)**](https://ci.acme.example/coverage)

Runs the **storefront** behind a load balancer. See [its alarms](docs/alarms.md), the [site](https://shop.acme.example)
and <b onclick="alert(1)">nothing that acts</b>.

![Diagram of the service](https://pictures.acme.example/diagram.png)

[Do not press](javascript:alert(1))

## Inputs

| Name | Type | Default |
|---|---|---|
| \`domain\` | \`string\` | |
| \`replicas\` | \`number\` | \`2\` |

1. Plan
2. Review

\`\`\`hcl
module "service" {
  source = "./modules/service"
}
\`\`\`

> Rotate the session key each quarter.

<script>document.title = "taken over"</script>
`

/** Returns the README for the usual file name. The repository has no README with another name. */
export const readmeFile = (path: string): Answer =>
  path.endsWith("README.md")
    ? ok({
        kind: "svc.source-snapshot-file@v1",
        sourceSnapshotId: "snap_0000000000000001",
        path,
        text: readmeText,
        digest: digest(78),
        sizeBytes: new TextEncoder().encode(readmeText).byteLength
      })
    : missing
