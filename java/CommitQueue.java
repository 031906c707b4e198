import java.util.concurrent.locks.ReentrantReadWriteLock;

import com.almworks.sqlite4java.SQLiteConnection;
import com.almworks.sqlite4java.SQLiteJob;
import com.almworks.sqlite4java.SQLiteQueue;
import software.amazon.dynamodb.services.local.shared.access.sqlite.AmazonDynamoDBOfflineSQLiteJob;

/**
 * A database's queue of SQLite jobs that waits for each of them. DynamoDB Local itself answers a transaction as soon as
 * its COMMIT is queued, and never learns that it failed, as on a full disk. After that, and after a ROLLBACK of what
 * SQLite has already rolled back, its connection would go on as if within that transaction, so that single writes would
 * no longer be atomic.
 */
final class CommitQueue extends SQLiteQueue {
  private final SQLiteQueue inner;
  private final ReentrantReadWriteLock lock;

  CommitQueue(SQLiteQueue inner, ReentrantReadWriteLock lock) {
    this.inner = inner;
    this.lock = lock;
  }

  @Override
  public <T, J extends SQLiteJob<T>> J execute(J job) {
    String caller = StackWalker.getInstance().walk(frames -> frames.skip(1).findFirst().orElseThrow().getMethodName());
    if (caller.equals("rollbackTransaction")) {
      inner.execute(new End()).complete();
      return job;
    }
    inner.execute(job);
    try {
      if (job instanceof AmazonDynamoDBOfflineSQLiteJob<?> work) work.get();
    } catch (RuntimeException error) {
      if (caller.equals("beginTransaction")) {
        // Nobody rolls back what has not begun, and the lock would stop every later request.
        inner.execute(new End()).complete();
        lock.writeLock().unlock();
      }
      throw error;
    }
    return job;
  }

  @Override
  public SQLiteQueue stop(boolean gracefully) {
    return inner.stop(gracefully);
  }

  /** Ends a transaction that failed, whether SQLite has already rolled it back or not. */
  private static final class End extends AmazonDynamoDBOfflineSQLiteJob<Void> {
    @Override
    protected Void job(SQLiteConnection connection) throws Throwable {
      manualTransactionsEnabled.set(false);
      if (!connection.getAutoCommit()) connection.exec("ROLLBACK");
      return null;
    }

    @Override
    protected Void doWork() {
      return null;
    }
  }
}
