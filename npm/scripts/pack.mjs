// Makes the packages below build/npm, and packs them: one for each platform whose program is built, and the client. With --all it
// is an error if a platform is missing, as in a release.
import { chmodSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { build, built, fail, notices, noticesOf, npm, platforms, programOf, readJSON, root, run, tarballOf, version } from './platforms.mjs'

const missing = platforms.filter((platform) => !built().includes(platform)).map(({ name }) => name)
if (process.argv.includes('--all') && missing.length > 0) fail(`not built: ${missing.join(', ')}`)

const client = readJSON(join(npm, 'package.json'))
const licence = readFileSync(join(root, 'LICENSE'), 'utf8')

for (const platform of built()) pack(platform.name, platformPackage(platform), { 'README.md': readmeOf(platform) }, (folder) => {
  mkdirSync(dirname(join(folder, platform.binary)), { recursive: true })
  cpSync(programOf(platform), join(folder, platform.binary))
  chmodSync(join(folder, platform.binary), 0o755) // a workflow's artifacts lose it
  cpSync(noticesOf(platform), join(folder, notices))
})
pack(client.name, clientPackage(), {}, (folder) => {
  for (const name of [...client.files, 'README.md']) {
    if (!existsSync(join(npm, name))) fail(`npm/${name} is not there: run npm run build in npm/`)
    cpSync(join(npm, name), join(folder, name), { recursive: true })
  }
})
if (missing.length > 0) console.log(`not packed, since it is not built here: ${missing.join(', ')}`)

/** Makes a package's folder and packs it. No script runs, and none is in any of the packages. */
function pack(name, description, texts, fill) {
  const folder = join(build, name)
  for (const old of [folder, tarballOf(name)]) rmSync(old, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  fill(folder)
  for (const [file, text] of Object.entries({ ...texts, 'package.json': json(description), LICENSE: licence })) {
    writeFileSync(join(folder, file), text)
  }
  run('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', build], { cwd: folder })
}

function platformPackage({ name, os, cpu, binary }) {
  return {
    name,
    version,
    description: `The program of ${client.name} for ${os} on ${cpu}.`,
    license: client.license,
    ...repository(),
    type: 'commonjs',
    engines: client.engines,
    os: [os],
    cpu: [cpu],
    files: [binary, notices],
    preferUnplugged: true, // Yarn starts no program inside an archive
  }
}

/** The client as it is published: every platform as an optional dependency, in exactly this version, and nothing of what only
 * those who work on it need. */
function clientPackage() {
  const { scripts, devDependencies, overrides, private: _, ...kept } = client
  return {
    ...kept,
    version,
    ...repository(),
    optionalDependencies: Object.fromEntries(platforms.map(({ name }) => [name, version])),
  }
}

/** Provenance is only given where a package names the repository that it is made in; a release knows it. */
function repository() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: name } = process.env
  return server && name ? { repository: { type: 'git', url: `git+${server}/${name}.git` } } : {}
}

function readmeOf({ name, os, cpu }) {
  return `# ${name}

The program of the package \`${client.name}\` for ${os} on ${cpu}, and nothing else.
Install \`${client.name}\`: it picks this package by itself. \`${notices}\` has the licences of what others wrote that is in it.
`
}

function json(value) {
  return `${JSON.stringify(value, null, 2)}\n`
}
