// A keyring of the tests: speaks the helper's protocol, keeps one JSON file, fails, or never answers.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';

const [behaviour, file] = process.argv.slice(2);
if (behaviour === 'hangs') setInterval(() => undefined, 1000);
else if (behaviour === 'fails') process.stdout.write(JSON.stringify({ error: 'it is locked' }));
else {
  const vault = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
  const values = JSON.parse(await text(process.stdin)).map((step) => {
    if (step.do === 'set') vault[step.account] = step.secret;
    if (step.do === 'delete') delete vault[step.account];
    return step.do === 'get' ? (vault[step.account] ?? null) : null;
  });
  writeFileSync(file, JSON.stringify(vault));
  process.stdout.write(JSON.stringify({ values }));
}
