// Installs the packed client into an empty project, as an app would get it: from a registry, which is this program and has what was
// packed and nothing else, and with the package of this system alone, of all that are there. Then it runs the client's tests in that
// project, but for those of its parts (test/unit): they find nothing but what was packed. What is given goes to vitest.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { basename, join } from 'node:path'
import { build, fail, npm, platforms, readJSON, root, run, tarballOf, version } from './platforms.mjs'

const client = readJSON(join(npm, 'package.json'))
const platform = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
const packed = [client, ...platforms].map(({ name }) => name).filter((name) => existsSync(tarballOf(name)))
for (const { name } of [client, platform]) if (!packed.includes(name)) fail(`${tarballOf(name)} is not there: run build.mjs and pack.mjs`)

const project = join(build, 'project')
for (const old of [project, join(build, 'npm-cache')]) rmSync(old, { recursive: true, force: true })
mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'an-app', private: true, type: 'module' }))
await install(`${client.name}@${version}`)
assert.deepEqual(readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')).sort(), [client.name, platform.name].sort())

// The tools of the tests are lent to the project, and the tests that know the package by its name alone are copied into it.
for (const name of Object.keys(client.devDependencies)) {
  const [scope, inner] = name.split('/')
  if (inner) mkdirSync(join(project, 'node_modules', scope), { recursive: true })
  symlinkSync(join(npm, 'node_modules', name), join(project, 'node_modules', name), 'junction')
}
cpSync(join(npm, 'vitest.config.ts'), join(project, 'vitest.config.ts'))
cpSync(join(npm, 'test'), join(project, 'test'), { recursive: true, filter: (path) => path !== join(npm, 'test', 'unit') })

const { SIDECAR_TEST_BINARY: _, ...environment } = process.env // the package has to find its own
run(process.execPath, [join('node_modules', 'vitest', 'vitest.mjs'), 'run', ...process.argv.slice(2)], {
  cwd: project,
  env: { ...environment, SIDECAR_TEST_FIXTURES: join(root, 'fixtures'), SIDECAR_TEST_README: join(npm, 'README.md') },
})

/** Lets npm install a package from here, with a cache of its own: another build had the same version. */
async function install(wanted) {
  const registry = createServer(answer).listen(0, '127.0.0.1')
  await once(registry, 'listening')
  const url = `http://127.0.0.1:${registry.address().port}/`
  const flags = ['--no-audit', '--no-fund', '--no-update-notifier', `--registry=${url}`, '--noproxy=127.0.0.1', `--cache=${join(build, 'npm-cache')}`]
  const child = spawn('npm', ['install', ...flags, wanted], { cwd: project, stdio: 'inherit', shell: process.platform === 'win32' })
  const [status] = await once(child, 'exit')
  registry.closeAllConnections()
  registry.close()
  if (status !== 0) fail(`npm install ${wanted}: exit status ${status}`)
}

/** What a registry answers: what versions of a package there are, or a package. */
function answer({ url, headers }, response) {
  const [name, file] = decodeURIComponent(url).slice(1).split('/-/')
  if (!packed.includes(name)) return void response.writeHead(404).end('{}')
  const tarball = readFileSync(tarballOf(name))
  if (file) return void response.end(tarball)
  const dist = {
    tarball: `http://${headers.host}/${name}/-/${basename(tarballOf(name))}`,
    integrity: `sha512-${createHash('sha512').update(tarball).digest('base64')}`,
  }
  response.setHeader('content-type', 'application/json')
  response.end(JSON.stringify({ name, 'dist-tags': { latest: version }, versions: { [version]: { ...readJSON(join(build, name, 'package.json')), dist } } }))
}
