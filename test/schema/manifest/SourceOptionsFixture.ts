import type { JsonObject } from "./ManifestFixture.ts"

export const option = (id: string, more: JsonObject = {}): JsonObject => ({
  id,
  title: `Option ${id}`,
  source: { url: "https://git.example.com/team/app", path: "modules/app", ref: "v1.2.0" },
  ...more
})

export const validOptions: JsonObject = {
  apiVersion: "install.svc.com/v1alpha1",
  kind: "CapsuleSourceOptions",
  metadata: { name: "app", title: "App", description: "Two ways to run the app." },
  options: [option("small"), option("large", { source: { url: "https://git.example.com/team/app", path: "." } })]
}
