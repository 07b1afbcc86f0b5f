/** Test files that cover rules from several sections, relative to the test folder. */
export const manifest = (name: string) => `schema/manifest/${name}.test.ts`
export const parser = manifest("ManifestParser")
export const inputs = manifest("InputDeclaration")
export const rules = manifest("ModuleRules")
export const requires = manifest("RequirementDeclaration")
export const material = manifest("PublicMaterial")
export const versions = manifest("ManifestVersions")
export const compiler = manifest("InstallConfigCompiler")
export const installs = "actors/commands/install-plan/InstallPlans.test.ts"
