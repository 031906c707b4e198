import java.io.File;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import com.almworks.sqlite4java.SQLiteConnection;
import com.almworks.sqlite4java.SQLiteException;
import com.almworks.sqlite4java.SQLiteJob;
import com.almworks.sqlite4java.SQLiteQueue;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.CreateTableResponse;
import software.amazon.dynamodb.services.local.main.CommandLineInput;
import software.amazon.dynamodb.services.local.server.LocalDynamoDBRequestHandler;
import software.amazon.dynamodb.services.local.shared.access.LocalDBClient;
import software.amazon.dynamodb.services.local.shared.access.sqlite.SQLiteDBAccess;

/**
 * DynamoDB Local's requests. Before the first table of a database, its queue becomes a `CommitQueue`, its streams are indexed,
 * and they go on with numbers that no earlier record had: after 30 hours without a write, DynamoDB Local would begin at 1
 * again when it starts, and who reads after the last record would see no new ones.
 */
final class CommittedRequests extends LocalDynamoDBRequestHandler {
  private final Set<Object> prepared = new HashSet<>();

  CommittedRequests(CommandLineInput given) {
    super(0, given.isInMemory(), given.getDbPath(), given.getSharedDb(), given.shouldDelayTransientStatuses());
    String[] files = given.isInMemory() ? new String[0] : new File(given.getDbPath()).list();
    for (String name : files) {
      int end = name.lastIndexOf('_');
      if (end > 0 && name.endsWith(".db")) prepare(name.substring(0, end), name.substring(end + 1, name.length() - 3));
    }
  }

  @Override
  public CreateTableResponse createTable(String key, String region, CreateTableRequest request) {
    prepare(key, region);
    return super.createTable(key, region, request);
  }

  private synchronized void prepare(String key, String region) {
    try {
      Object database = method("getCredentialsString", String.class, String.class).invoke(this, key, region);
      if (prepared.contains(database)) return;
      Object client = method("getHandler", String.class).invoke(this, database);
      Object access = field(LocalDBClient.class, "dbAccess").get(client);
      Field queue = field(SQLiteDBAccess.class, "queue");
      Object lock = field(SQLiteDBAccess.class, "queueLock").get(access);
      SQLiteQueue inner = (SQLiteQueue) queue.get(access);
      inner.execute(new StreamIndexes()).complete();
      queue.set(access, new CommitQueue(inner, (ReentrantReadWriteLock) lock));
      AtomicLong next = (AtomicLong) field(SQLiteDBAccess.class, "sequenceNumberCounter").get(access);
      next.accumulateAndGet(System.currentTimeMillis(), Math::max);
      prepared.add(database);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("this is not the DynamoDB Local for which java/ was written", error);
    }
  }

  /**
   * Indexes of what DynamoDB Local reads in each request to a table that has a stream: its stream's first record, for which
   * it would pass all records of the streams that began earlier, and the stream's shards. Without them, as on a full disk,
   * it is only slow.
   */
  private static final class StreamIndexes extends SQLiteJob<Void> {
    @Override
    protected Void job(SQLiteConnection connection) throws SQLiteException {
      connection.exec("CREATE INDEX IF NOT EXISTS recordsOfStream ON us (StreamID)");
      connection.exec("CREATE INDEX IF NOT EXISTS shardsOfStream ON ss (StreamID)");
      connection.exec("CREATE INDEX IF NOT EXISTS streamsOfTable ON sm (TableName)");
      return null;
    }
  }

  private static Method method(String name, Class<?>... types) throws ReflectiveOperationException {
    return open(LocalDynamoDBRequestHandler.class.getDeclaredMethod(name, types));
  }

  private static Field field(Class<?> owner, String name) throws ReflectiveOperationException {
    return open(owner.getDeclaredField(name));
  }

  private static <T extends AccessibleObject> T open(T member) {
    member.setAccessible(true);
    return member;
  }
}
