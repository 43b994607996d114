// Installs the packed client and the packed program of this machine into an empty project, as an app would get them, and runs the
// client's tests there: they find nothing but what was packed. No registry is asked. What is given goes to vitest.
import { cpSync, existsSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, fail, npm, platforms, readJSON, root, run, tarballOf } from './platforms.mjs'

const client = readJSON(join(npm, 'package.json'))
const platform = platforms.find(({ os, cpu }) => os === process.platform && cpu === process.arch)
const tarballs = [client.name, platform.name].map(tarballOf)
for (const tarball of tarballs) if (!existsSync(tarball)) fail(`${tarball} is not there: run build.mjs and pack.mjs`)

const project = join(build, 'project')
rmSync(project, { recursive: true, force: true })
mkdirSync(project, { recursive: true })
writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'an-app', private: true, type: 'module' }))
run('npm', ['install', '--offline', '--no-audit', '--no-fund', '--ignore-scripts', ...tarballs], { cwd: project })

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
