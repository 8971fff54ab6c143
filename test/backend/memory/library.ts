/** Short passages with known questions: what the search of memory has to find. In both languages of the product. */
export const PASSAGES: Record<string, string> = {
  runner:
    'All tests of the billing service run with vitest; jest was removed in spring because it was slow to start.',
  release:
    'A release is cut every second Monday. Whoever is on duty tags the commit and watches the dashboards for an hour.',
  secrets:
    'Credentials for the staging cluster live in the vault under team/staging and are rotated each quarter.',
  timezone:
    'Timestamps are stored in UTC and shown in the reader’s own zone; the invoice is the one exception.',
  cache: 'The product catalogue is cached for ten minutes at the edge. Purge it by tag after a price change.',
  queue:
    'Mail goes through a queue with three retries; a message that fails them lands in the parking table.',
  naming:
    'Database columns are snake case, and identifiers in TypeScript are camel case. The mapper converts between them.',
  oncall: 'Call the payments team first when the ledger is out of balance; do not restart the reconciler.',
  branch: 'Branches are named after the ticket, and merged by squash so that each ticket is one commit.',
  flaky:
    'The upload test fails on slow disks because it waits for one second. It should await the finished event.',
  memory: 'The image worker needs two gigabytes; with less it is killed while it resizes panoramas.',
  locale: 'Translations are exported on Friday. A missing key falls back to English and is logged once.',
  audit: 'Every change of a price needs two people. The audit log keeps both names for seven years.',
  backup:
    'Backups of the orders database run at three in the night and are restored on a spare machine each week.',
  theme: 'The dark theme uses the same tokens as the light one; never write a colour into a component.',
  search: 'Search results are ordered by relevance and then by stock, so that sold out articles come last.',
  部署: '部署前先在预发环境验证，通过后由值班同事在下午四点前发布到生产环境。',
  数据库: '数据库迁移必须可以回滚，删除字段要分两个版本进行，先停止写入再删除。',
  日志: '日志保留三十天，包含用户编号但不得包含手机号或地址。',
  缓存: '首页推荐结果缓存五分钟，用户登录后改用个性化结果，不走缓存。',
};

export const QUESTIONS: { question: string; finds: string }[] = [
  { question: 'Which test runner does billing use?', finds: 'runner' },
  { question: 'when are releases tagged', finds: 'release' },
  { question: 'Where do I find the staging credentials?', finds: 'secrets' },
  { question: 'How do we store timestamps?', finds: 'timezone' },
  { question: 'purging cached prices', finds: 'cache' },
  { question: 'What happens to mail after failed retries?', finds: 'queue' },
  { question: 'naming of database columns', finds: 'naming' },
  { question: 'ledger does not balance, whom to call', finds: 'oncall' },
  { question: 'how are branches merged', finds: 'branch' },
  { question: 'why is the upload test flaky on slow disks', finds: 'flaky' },
  { question: 'image worker killed', finds: 'memory' },
  { question: 'missing translation key', finds: 'locale' },
  { question: 'who must agree to a price change', finds: 'audit' },
  { question: 'restore of the orders backup', finds: 'backup' },
  { question: 'colours in the dark theme', finds: 'theme' },
  { question: 'order of search results', finds: 'search' },
  { question: '什么时候发布到生产环境', finds: '部署' },
  { question: '删除数据库字段的步骤', finds: '数据库' },
  { question: '日志里能有手机号吗', finds: '日志' },
  { question: '首页推荐缓存多久', finds: '缓存' },
];
