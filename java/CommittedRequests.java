import java.io.File;
import java.lang.reflect.AccessibleObject;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantReadWriteLock;

import com.almworks.sqlite4java.SQLiteQueue;
import software.amazon.awssdk.services.dynamodb.model.ExecuteTransactionRequest;
import software.amazon.awssdk.services.dynamodb.model.ExecuteTransactionResponse;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsRequest;
import software.amazon.awssdk.services.dynamodb.model.TransactWriteItemsResponse;
import software.amazon.dynamodb.services.local.main.CommandLineInput;
import software.amazon.dynamodb.services.local.server.LocalDynamoDBRequestHandler;
import software.amazon.dynamodb.services.local.shared.access.LocalDBClient;
import software.amazon.dynamodb.services.local.shared.access.sqlite.SQLiteDBAccess;

/**
 * DynamoDB Local's requests. Before the first transaction in a database, its queue becomes a `CommitQueue`, and its streams
 * go on with numbers that no earlier record had: after 30 hours without a write, DynamoDB Local would begin at 1 again when
 * it starts, and who reads after the last record would see no new ones.
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
  public TransactWriteItemsResponse transactWriteItems(String key, String region, TransactWriteItemsRequest request) {
    prepare(key, region);
    return super.transactWriteItems(key, region, request);
  }

  @Override
  public ExecuteTransactionResponse executeTransaction(String key, String region, ExecuteTransactionRequest request) {
    prepare(key, region);
    return super.executeTransaction(key, region, request);
  }

  private synchronized void prepare(String key, String region) {
    try {
      Object database = method("getCredentialsString", String.class, String.class).invoke(this, key, region);
      if (prepared.contains(database)) return;
      Object client = method("getHandler", String.class).invoke(this, database);
      Object access = field(LocalDBClient.class, "dbAccess").get(client);
      Field queue = field(SQLiteDBAccess.class, "queue");
      Object lock = field(SQLiteDBAccess.class, "queueLock").get(access);
      queue.set(access, new CommitQueue((SQLiteQueue) queue.get(access), (ReentrantReadWriteLock) lock));
      AtomicLong next = (AtomicLong) field(SQLiteDBAccess.class, "sequenceNumberCounter").get(access);
      next.accumulateAndGet(System.currentTimeMillis(), Math::max);
      prepared.add(database);
    } catch (ReflectiveOperationException error) {
      throw new IllegalStateException("this is not the DynamoDB Local for which java/ was written", error);
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
