import { Effect, FileSystem, Path, Runtime, Schema, Stream } from "effect"
import { ChildProcess, ChildProcessSpawner } from "effect/process"
import { docsSite, sitePath } from "./DocsSite.ts"

/** The error if the pages could not be built. */
class DocsFailed extends Schema.TaggedError<DocsFailed>()("DocsFailed", { message: Schema.String }) {
  override readonly [Runtime.errorExitCode] = 1
}

const run = Effect.fnUntraced(function* (folder: string, program: string, ...args: ReadonlyArray<string>) {
  const spawner = yield* ChildProcessSpawner.ChildProcessSpawner
  const handle = yield* spawner.spawn(ChildProcess.make(program, args, { cwd: folder, extendEnv: true }))
  const [output, code] = yield* Effect.all([Stream.mkString(Stream.decodeText(handle.all)), handle.exitCode], {
    concurrency: 2
  })
  if (Number(code) !== 0) return yield* new DocsFailed({ message: `${program} failed:\n${output.slice(-4000)}` })
}, Effect.scoped)

const digestOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex")

const inlineScript = /<script((?:(?!\ssrc=)[^>])*)>([\s\S]*?)<\/script>/g
const inlineStyle = / style="[^"]*"/g
const inlineHandler = /<[a-z][^<>]*\son[a-z]+="/

/** Folder of the site for files whose names contain a hash of their contents. */
const hashedFolder = "assets"

/**
 * Moves the inline scripts of a page to files, and removes inline styles, because the server's policy permits neither. The
 * generator's scripts set such a style themselves when they need it, which the policy permits. Returns the text and the
 * files, by their paths on the site.
 */
export const withoutInline = (html: string, base: string) => {
  const scripts = new Map<string, string>()
  const text = html
    .replaceAll(inlineScript, (_whole, attributes: string, code: string) => {
      const name = `${hashedFolder}/page.${digestOf(code).slice(0, 8)}.js`
      scripts.set(name, code)
      return `<script${attributes} src="${base}${name}"></script>`
    })
    .replaceAll(inlineStyle, "")
  return { text, scripts }
}

const codeClass = /code-((?:light|dark)(?:-[a-z]+)*)__([\w-]+)/g

/** Returns the style sheet of the classes of code that the texts use (see `site/.vitepress/config.ts`). */
export const codeStyles = (texts: Iterable<string>): string => {
  const rules = new Map<string, string>()
  for (const text of texts) {
    for (const [name, property = "", value = ""] of text.matchAll(codeClass)) {
      // The values without a suffix are colours.
      rules.set(name, `.${name}{--shiki-${property}:${property.includes("-") ? "" : "#"}${value}}`)
    }
  }
  return [...rules.values()].toSorted().join("\n")
}

/** Returns what a server's policy would block in a file of the site; `undefined` if it would block nothing. */
export const blockedPart = (name: string, text: string): string | undefined => {
  if (name.endsWith(".html")) return inlineHandler.exec(text)?.[0]
  // The contents of a page that is opened by a link of another page.
  return name.endsWith(".js") ? / style=\\?"[^"]*"/.exec(text)?.[0] : undefined
}

const finishPages = Effect.fnUntraced(function* (folder: string, base: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const names = (yield* files.readDirectory(folder, { recursive: true })).filter((name) => /\.(?:html|js)$/.test(name))
  const pages = yield* Effect.forEach(names.toSorted(), (name) =>
    Effect.map(files.readFileString(path.join(folder, name)), (written) => ({ name, written }))
  )
  const styles = codeStyles(pages.map(({ written }) => written))
  const sheet = `${hashedFolder}/code.${digestOf(styles).slice(0, 8)}.css`
  yield* files.writeFileString(path.join(folder, sheet), styles)
  for (const { name, written } of pages) {
    const place = path.join(folder, name)
    const { scripts, text } = name.endsWith(".html")
      ? withoutInline(written.replace("</head>", `<link rel="stylesheet" href="${base}${sheet}"></head>`), base)
      : { text: written, scripts: new Map<string, string>() }
    const blocked = blockedPart(name, text)
    if (blocked !== undefined) {
      return yield* new DocsFailed({ message: `The server's policy would block a part of ${name}: ${blocked}` })
    }
    if (text !== written) yield* files.writeFileString(place, text)
    yield* Effect.forEach(scripts, ([script, code]) => files.writeFileString(path.join(folder, script), code))
  }
})

/** Runs the generator, which installs itself first. It has a separate lock file in site/, apart from the product's packages. */
const generate = Effect.fnUntraced(function* (root: string, contents: ReadonlyMap<string, string>) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const source = path.join(root, "site/pages")
  yield* files.remove(source, { recursive: true, force: true })
  for (const [name, text] of contents) {
    yield* files.makeDirectory(path.dirname(path.join(source, name)), { recursive: true })
    yield* files.writeFileString(path.join(source, name), text)
  }
  const site = yield* docsSite(root)
  const copy = Effect.fnUntraced(function* (name: string, target: string) {
    if (!(yield* files.exists(path.join(root, name)))) {
      return yield* new DocsFailed({ message: `A page links to ${name}, which does not exist.` })
    }
    yield* files.makeDirectory(path.dirname(target), { recursive: true })
    yield* files.copy(path.join(root, name), target)
  })
  yield* Effect.forEach(site.copied, (name) => copy(name, path.join(source, "public", sitePath(name))))
  // The generator processes images and names them after their contents.
  yield* Effect.forEach(site.images, (name) => copy(name, path.join(source, sitePath(name))))
  const generator = path.join(root, "site")
  if (!(yield* files.exists(path.join(generator, "node_modules/vitepress")))) {
    yield* run(generator, "npm", "ci", "--no-audit", "--no-fund")
  }
  yield* run(generator, path.join(generator, "node_modules/.bin/vitepress"), "build", ".")
})

const decodeNames = Schema.decodeUnknownEffect(Schema.fromJsonString(Schema.Array(Schema.String)))

/**
 * Builds the documentation in dist/docs, unless it was built from the same sources before. Returns the folder, and the folders
 * of the packages that the pages contain.
 */
export const buildDocs = Effect.fn("buildDocs")(function* (root: string) {
  const files = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(root, "dist/docs")
  const base = process.env["SVC_DOCS_BASE"] ?? "/docs/"
  const site = yield* docsSite(root)
  const contents = new Map([
    ...site.pages,
    ["site.json", JSON.stringify({ title: "svc", sections: site.sections })] as const
  ])
  const readAll = (names: ReadonlyArray<string>) =>
    Effect.forEach(names, (name) =>
      Effect.map(files.readFile(path.join(root, name)), (bytes) => [
        name,
        new Bun.CryptoHasher("sha256").update(bytes).digest("hex")
      ])
    )
  const own = ["site/package-lock.json", "site/.vitepress/config.ts", "site/.vitepress/theme/index.ts"]
  const styles = "site/.vitepress/theme/Pages.css"
  const others = [...own, styles, "scripts/DocsBuild.ts", ...site.images]
  const linked = yield* Effect.filter(site.copied, (name) =>
    Effect.match(files.stat(path.join(root, name)), {
      onFailure: () => false,
      onSuccess: ({ type }) => type === "File"
    })
  )
  const digest = digestOf(JSON.stringify([base, ...contents, ...(yield* readAll([...others, ...linked]))]))
  // Outside the folder, because the server serves every file in the folder.
  const mark = path.join(root, "dist/docs.sha256")
  const known = yield* Effect.orElseSucceed(files.readFileString(mark), () => "")
  const packages = path.join(root, "site/pages/packages.json")
  if (known !== digest || !(yield* files.exists(path.join(folder, "index.html"))) || !(yield* files.exists(packages))) {
    yield* files.remove(mark, { force: true })
    yield* generate(root, contents)
    yield* finishPages(folder, base)
    yield* files.writeFileString(mark, digest)
  }
  const names = yield* decodeNames(yield* files.readFileString(packages))
  return { folder, packages: names.map((name) => `site/node_modules/${name}`) }
})
