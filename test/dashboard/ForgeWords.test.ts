import { existsSync } from "node:fs"
import { expect, test } from "bun:test"
import { type Forge, forgeOf, forges } from "../../src/dashboard/screens/source/ForgeWords.ts"

test.each<readonly [string, Forge]>([
  ["https://github.com/acme/network.git", "github"],
  ["https://github.example.com/acme/network.git", "github"],
  ["https://gitlab.com/acme/network.git", "gitlab"],
  ["ssh://git@gitlab.example.com/acme/network.git", "gitlab"],
  ["https://codeberg.org/acme/network.git", "forgejo-gitea"],
  ["https://gitea.example.com/acme/network.git", "forgejo-gitea"],
  ["https://bitbucket.org/acme/network.git", "bitbucket"],
  ["https://dev.azure.com/acme/project/_git/network", "azure-devops"],
  ["https://acme.visualstudio.com/project/_git/network", "azure-devops"],
  ["https://git.example.com/github/network.git", "plain"],
  ["no address", "plain"]
])("the Git host %s shows the webhook steps of %s", (url, forge) => {
  expect(forgeOf(url)).toBe(forge)
})

test.each([...forges])("the page docs/webhooks/%s.md, to which the dashboard links, exists", (forge) => {
  expect(existsSync(new URL(`../../docs/webhooks/${forge}.md`, import.meta.url))).toBe(true)
})
